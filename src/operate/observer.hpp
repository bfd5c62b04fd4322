#pragma once

#include <memory>
#include <utility>

#include "api/access.hpp"
#include "platform/environment.hpp"
#include "runtime/engine.hpp"

namespace holdfast::detail {

/// Connections of its own that enlist no server, as examine() has them.
class observer {
  public:
    explicit observer(client& through) {
        access::shared(through)->check_process();
        auto settings = through.settings();
        settings.log = {};
        settings.prefix.clear();  // it looks at the keys of all
        engine_ = std::make_shared<runtime::engine>(platform::make_environment(),
                                                    std::move(settings), net::purpose::look);
    }
    ~observer() { engine_->close(); }

    observer(const observer&) = delete;
    observer& operator=(const observer&) = delete;

    [[nodiscard]] runtime::engine& engine() const { return *engine_; }

  private:
    runtime::engine_pointer engine_;
};

}  // namespace holdfast::detail
