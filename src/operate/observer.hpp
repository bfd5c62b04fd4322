#pragma once

#include <memory>
#include <string>
#include <utility>

#include "api/access.hpp"
#include "platform/environment.hpp"
#include "runtime/engine.hpp"

namespace holdfast::detail {

/// Connections of its own that enlist no server, as examine() has them.
class observer {
  public:
    /// Without a prefix it looks at the keys of all.
    explicit observer(client& through, std::string prefix = {}) {
        access::shared(through)->check_process();
        auto settings = through.settings();
        settings.log = {};
        settings.prefix = std::move(prefix);
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
