#include "holdfast/mutex.hpp"

#include <utility>

#include "kinds/exclusive.hpp"

namespace holdfast {

mutex::mutex(client& through, std::string key, acquire_options how)
    : lockable(through, std::move(key), how, kinds::exclusive()) {}

mutex::~mutex() = default;

}  // namespace holdfast
