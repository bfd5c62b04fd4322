#include "sim/world/environment.hpp"

#include <charconv>
#include <cstring>

namespace holdfast::sim {

std::span<stream* const> simulated_environment::open_streams() {
    std::erase_if(open_, [](const stream* each) { return each->closed(); });
    listed_ = open_;
    return listed_;
}

clock::time_point simulated_environment::now() const noexcept {
    process_.maybe_pause(pauses_per_look);
    last_seen_ = process_.local();
    if (seen_in_ != process_.in().count()) first_seen_ = last_seen_;
    seen_in_ = process_.in().count();
    return last_seen_;
}

core::time_point simulated_environment::first_seen() const {
    return seen_in_ == process_.in().count() ? first_seen_ : process_.local();
}

void simulated_environment::draw(std::span<std::uint8_t> into) {
    while (!into.empty()) {
        const auto bits = process_.chance().next();
        const auto bytes = std::min(into.size(), sizeof bits);
        std::memcpy(into.data(), &bits, bytes);
        into = into.subspan(bytes);
    }
}

std::string simulated_environment::signature() const {
    return ":sim@c" + std::to_string(process_.index()) + ":1:";
}

std::uint32_t simulated_environment::machine_named(std::string_view host) {
    if (host == "address") return network_.follow_address();
    std::uint32_t number = 0;
    std::from_chars(host.data() + 1, host.data() + host.size(), number);
    const bool is_sentinel = host.front() == 'n';
    const auto servers = static_cast<std::uint32_t>(process_.settings().servers());
    return is_sentinel ? servers + number : number;
}

std::shared_ptr<net::transport> simulated_environment::make_transport(
    const net::endpoint& where, std::shared_ptr<net::credentials>, base::client_mutex&,
    net::transport::events& listener) {
    const auto server = machine_named(where.host);
    auto made = network_.make(process_, server, listener);
    open_.push_back(made.get());
    return made;
}

std::unique_ptr<runtime::driver> simulated_environment::make_driver(
    base::client_mutex& guard, runtime::driver::machinery& driven) {
    auto made = std::make_unique<simulated_driver>(process_, guard, driven);
    driver_ = made.get();
    return made;
}

}  // namespace holdfast::sim
