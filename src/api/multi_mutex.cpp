#include "holdfast/multi_mutex.hpp"

#include <utility>

#include "api/access.hpp"
#include "api/held_leases.hpp"

namespace holdfast {

multi_mutex::multi_mutex(client& through, std::vector<std::string> keys, acquire_options how)
    : lockable(through, std::move(keys), how) {}

multi_mutex::~multi_mutex() = default;

const std::vector<std::string>& multi_mutex::keys() const noexcept {
    return detail::access::held(*this).keys();
}

}  // namespace holdfast
