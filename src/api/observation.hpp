#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/access.hpp"
#include "api/leader_look.hpp"
#include "holdfast/election.hpp"

namespace holdfast::detail {

/// What an observer has in hand: of whom it was told last.
class observation {
  public:
    observation(client& through, std::string name);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] const shared_client& through() const { return *shared_; }

    [[nodiscard]] std::shared_ptr<leader_look> look() const {
        return std::make_shared<leader_look>(lock_, told_);
    }
    const leader& tell(const leader_look& found) { return told_.emplace(found.found()); }

  private:
    std::shared_ptr<shared_client> shared_;
    std::string name_;
    std::string lock_;  // with the client's prefix
    std::optional<leader> told_;
};

}  // namespace holdfast::detail
