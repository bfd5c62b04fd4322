#pragma once

#include <memory>
#include <utility>

#include "access.hpp"
#include "platform/environment.hpp"
#include "runtime/engine.hpp"

namespace holdfast::detail {

/// Connections of its own that enlist no server, as examine() has them.
class onlooker {
  public:
    explicit onlooker(client& through) {
        access::shared(through)->check_process();
        auto settings = through.settings();
        settings.log = {};
        settings.prefix.clear();  // it looks at the keys of all
        engine_ = std::make_shared<runtime::engine>(platform::make_environment(),
                                                    std::move(settings), net::purpose::look);
    }
    ~onlooker() { engine_->close(); }

    onlooker(const onlooker&) = delete;
    onlooker& operator=(const onlooker&) = delete;

    [[nodiscard]] runtime::engine& engine() const { return *engine_; }

  private:
    runtime::engine_pointer engine_;
};

}  // namespace holdfast::detail
