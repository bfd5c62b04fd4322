#pragma once

#include <optional>
#include <string>

#include "unit/support/stub_server.hpp"

namespace holdfast::testing {

/// What a Sentinel says of a master.
struct named_master {
    std::string host{};
    std::uint16_t port = 6379;
    unsigned replicas = 2;
    unsigned epoch = 0;
};

/// A Sentinel that watches `main`, and knows what it is told.
class stub_sentinel {
  public:
    stub_sentinel(world& in, const std::string& name) : server(in, name) {
        server.info =
            "redis_version:7.0.15\r\nredis_mode:sentinel\r\nrun_id:life-of-" + name +
            "\r\nmaster0:name=main,status=ok,address=10.0.0.1:6379,slaves=2,sentinels=3\r\n";
    }

    void names(const named_master& which) {
        server.answer("GET-MASTER-ADDR-BY-NAME",
                      "*2\r\n" + bulk(which.host) + bulk(std::to_string(which.port)));
        server.answer("MASTER", "%3\r\n" + bulk("name") + bulk("main") + bulk("num-slaves") +
                                    bulk(std::to_string(which.replicas)) + bulk("config-epoch") +
                                    bulk(std::to_string(which.epoch)));
    }

    void knows_no_master() {
        server.answer("GET-MASTER-ADDR-BY-NAME", "_\r\n");
        server.answer("MASTER", "-ERR No such master with that name\r\n");
    }

    /// Tells who listens that another server is the master by now.
    void publishes_switch(const std::string& master = "main") {
        for (const auto& each : server.connections()) {
            each->say(published("+switch-master", master + " 10.0.0.1 6379 10.0.0.2 6379"));
        }
    }

    void is_silent() {
        for (const auto* each : {"GET-MASTER-ADDR-BY-NAME", "MASTER"}) server.answer(each, "");
    }

    [[nodiscard]] int asked() const { return server.count("GET-MASTER-ADDR-BY-NAME"); }

    stub_server server;
};

}  // namespace holdfast::testing
