#pragma once

#include "runtime/driving/environment.hpp"
#include "sim/world/driver.hpp"

namespace holdfast::sim {

/// All that one simulated process takes from its world. The servers are called s0, s1, ...;
/// Sentinels n0, n1, ...; and an address that moves from one server to another, `address`.
class simulated_environment final : public runtime::environment {
  public:
    static constexpr unsigned pauses_per_look = 2;  // at the clock, in a thousand

    simulated_environment(process& of, sim::network& on) : process_(of), network_(on) {}

    [[nodiscard]] simulated_driver& driver() const { return *driver_; }
    /// Its connections that it has not given up, oldest first. Valid until the next call.
    [[nodiscard]] std::span<stream* const> open_streams();
    /// What the process saw when it last looked at its clock, and when it first did so in the
    /// present event: whatever it has decided since then, it knew of that.
    [[nodiscard]] core::time_point last_seen() const { return last_seen_; }
    [[nodiscard]] core::time_point first_seen() const;

    [[nodiscard]] clock::time_point now() const noexcept override;
    void draw(std::span<std::uint8_t> into) override;
    [[nodiscard]] std::string signature() const override;
    [[nodiscard]] std::shared_ptr<net::credentials> prepare(const net::endpoint&) override {
        return nullptr;
    }
    [[nodiscard]] std::shared_ptr<net::transport> make_transport(
        const net::endpoint& where, std::shared_ptr<net::credentials> with,
        base::client_mutex& guard, net::transport::events& listener) override;
    [[nodiscard]] std::unique_ptr<runtime::driver> make_driver(
        base::client_mutex& guard, runtime::driver::machinery& driven) override;

  private:
    [[nodiscard]] std::uint32_t machine_named(std::string_view host);

    process& process_;
    sim::network& network_;
    simulated_driver* driver_ = nullptr;
    std::vector<stream*> open_;
    std::vector<stream*> listed_;  // whoever goes through them may well open another one
    mutable core::time_point last_seen_{};
    mutable core::time_point first_seen_{};
    mutable std::uint64_t seen_in_ = 0;  // which event
};

}  // namespace holdfast::sim
