#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <memory>
#include <optional>

#include "api/leader_look.hpp"
#include "runtime/operations/watching.hpp"
#include "sim/world/process.hpp"

namespace holdfast::sim {

class client;

/// One who wants to be told of each leader of the election, for as long as the run lasts. It asks
/// as src/api/election_observer.cpp does, and is told by callbacks.
class observer {
  public:
    static constexpr std::uint16_t slot = 1000;  // its timer, among those of callers
    /// Where nothing is wrong any more: the net under who is not told is a look every 5 s.
    static constexpr core::duration told_within = std::chrono::seconds(8);

    explicit observer(client& of);
    observer(const observer&) = delete;
    observer& operator=(const observer&) = delete;

    void start() { look(); }
    /// Its timer, if that is the one.
    void act(std::uint32_t generation);

    [[nodiscard]] bool sees_nobody() const { return known_ && !*known_; }

  private:
    /// What the client's driver calls back.
    class word final : public runtime::callback {
      public:
        explicit word(observer& whom) : whom_(whom) {}

      private:
        void run() override { whom_.told(); }
        observer& whom_;
    };

    void look();
    void told();
    void say(const std::string& what);

    client& client_;
    process& process_;
    std::optional<leader> known_;
    std::shared_ptr<detail::leader_look> look_;
    boost::intrusive_ptr<runtime::watching> watching_;
    runtime::watching::result result_;
    std::uint32_t timer_ = 0;  // the latest
    word told_{*this};
};

}  // namespace holdfast::sim
