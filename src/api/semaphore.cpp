#include "holdfast/semaphore.hpp"

#include <system_error>
#include <utility>

#include "holdfast/error.hpp"
#include "kinds/semaphore.hpp"

namespace holdfast {
namespace {

std::uint32_t checked(std::uint32_t permits) {
    if (permits >= 1 && permits <= max_permits) return permits;
    throw std::system_error(errc::invalid_option, "a semaphore has 1 to " +
                                                      std::to_string(max_permits) +
                                                      " permits, not " + std::to_string(permits));
}

}  // namespace

semaphore::semaphore(client& through, std::string key, std::uint32_t permits, acquire_options how)
    : lockable(through, std::move(key), how, kinds::semaphore(), checked(permits)) {}

semaphore::~semaphore() = default;

}  // namespace holdfast
