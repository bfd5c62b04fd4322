#pragma once

#include <vector>

#include "sim/server/sentinel.hpp"
#include "sim/world/network.hpp"

namespace holdfast::sim {

/// The machine of one Sentinel: its end of the connections, as of host.
class sentinel_host final : server_wire {
  public:
    sentinel_host(network& on, std::uint32_t machine, sentinel::watched what, sentinel::view first)
        : network_(on), machine_(machine), sentinel_(*this, std::move(what), std::move(first)) {}

    void connect_arrives(stream& by);
    void bytes_arrive(stream& by);
    void close_arrives(stream& by);

    void crash();
    void restart() { up_ = true; }
    void learn(const sentinel::view& next);
    [[nodiscard]] const sentinel::view& knows() const { return sentinel_.knows(); }

  private:
    void reply(connection to, std::string_view bytes) override { append(to, bytes); }
    void push(connection to, std::string_view bytes) override { append(to, bytes); }
    void hang_up(connection) override {}
    void append(connection to, std::string_view bytes);
    void send_outboxes();
    [[nodiscard]] bool belongs_here(const stream& by) const {
        return up_ && by.session != 0 && by.life == life_;
    }

    network& network_;
    std::uint32_t machine_;
    sentinel sentinel_;
    bool up_ = true;
    std::uint32_t life_ = 1;
    std::vector<stream*> sessions_;  // by the Sentinel's numbers
    std::vector<stream*> to_send_;
};

}  // namespace holdfast::sim
