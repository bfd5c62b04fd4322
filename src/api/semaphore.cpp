#include "holdfast/semaphore.hpp"

#include <utility>

#include "api/permits.hpp"
#include "kinds/semaphore.hpp"

namespace holdfast {

semaphore::semaphore(client& through, std::string key, std::uint32_t permits, acquire_options how)
    : lockable(through, std::move(key), how, kinds::semaphore(), nullptr,
               detail::require_permits(permits)) {}

semaphore::~semaphore() = default;

}  // namespace holdfast
