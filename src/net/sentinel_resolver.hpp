#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/locks.hpp"
#include "core/backoff.hpp"
#include "net/connection.hpp"
#include "net/resolver.hpp"
#include "net/sentinel_report.hpp"

namespace holdfast::net {

/// Finds a master by its Sentinels, and says when another server has taken its place.
///
///   link      meaning                             leaves it by
///   none      nobody is listened to               a question, or, once a master was found, time
///   opening   to one Sentinel                     its handshake, or its bound
///   asked     subscribed to +switch-master, and   an answer; where there is none, or it is of no
///             then asked where the master is      use, the next Sentinel is opened
///   watching  it has answered                     a message, a second, or a question: asked
///
/// One at a time is asked, and goes on being listened to: what it answers was true after it had
/// begun to tell of changes, so none is missed. Each has its share of connect_timeout, so that all
/// can be asked and the master be connected to. The next question begins with who answered last,
/// and after a doubt with the one behind it. A master whose replicas do not acknowledge may be one
/// that was replaced, named by a Sentinel that was cut off with it: the next one is asked as well.
///
/// Sentinels disagree for a while after a fail-over, and for long where some are cut off. Every
/// fail-over has an epoch: an answer of an older one than was heard of before counts only if every
/// one of the Sentinels gives such an answer when asked in turn (somebody has set them up anew). A
/// majority would not do: who led a fail-over knows of it for a while before all others.
///
/// Hermetic, as all of src/net: streams and time come from the network, chance from who asks.
class sentinel_resolver final : public resolver, private connection::owner {
  public:
    struct settings {
        endpoint of;  // with sentinels
        std::string client_name{};
        clock::duration connect_timeout{};  // for all of them, and the master
    };

    /// Throws as network::prepare() does.
    sentinel_resolver(network& through, base::client_mutex& guard, settings how);
    ~sentinel_resolver() override;

    void ask(asker& who) noexcept override HOLDFAST_LOCKED;
    void withdraw() noexcept override HOLDFAST_LOCKED { asking_ = nullptr; }
    void doubt() noexcept override HOLDFAST_LOCKED;
    void suspect() noexcept override HOLDFAST_LOCKED;
    void close() noexcept override HOLDFAST_LOCKED;
    [[nodiscard]] bool names_masters() const override { return true; }

    [[nodiscard]] bool busy() const override HOLDFAST_LOCKED {
        return link_ && (asked_ || !link_->ready());
    }
    void expire(clock::time_point now) noexcept override HOLDFAST_LOCKED;
    [[nodiscard]] clock::time_point wake_at() const override HOLDFAST_LOCKED;
    [[nodiscard]] bool silent() const override HOLDFAST_LOCKED { return !link_; }
    [[nodiscard]] int descriptor() const override HOLDFAST_LOCKED { return link_->descriptor(); }
    void take_in() noexcept override HOLDFAST_LOCKED { link_->take_in(); }
    void watch() override HOLDFAST_LOCKED { link_->watch(); }
    void abandon() noexcept override {
        if (link_) link_->abandon();
    }

  private:
    class question;

    /// What came of one Sentinel in this round.
    struct attempt {
        std::string name;
        failure why;
    };

    void on_ready(const greeting& said) override HOLDFAST_LOCKED;
    void on_down(const failure& why) noexcept override HOLDFAST_LOCKED;
    void on_push(resp::view message) override HOLDFAST_LOCKED;
    [[nodiscard]] std::optional<failure> why_not_again(const exchange&,
                                                       exchange::tag) override HOLDFAST_LOCKED {
        return std::nullopt;
    }
    void on_blocked() override HOLDFAST_LOCKED { follower_->on_change(); }

    void on_address(resp::view reply) HOLDFAST_LOCKED;
    void on_group(resp::view reply) HOLDFAST_LOCKED;

    void open() noexcept HOLDFAST_LOCKED;
    void drop() noexcept HOLDFAST_LOCKED;
    void go_on() noexcept HOLDFAST_LOCKED;
    void conclude_round() noexcept HOLDFAST_LOCKED;
    void put_question() HOLDFAST_LOCKED;
    void found(const sentinel_report& report) HOLDFAST_LOCKED;
    [[nodiscard]] bool is_outdated(const sentinel_report& report) const HOLDFAST_LOCKED;
    [[nodiscard]] const sentinel_report* newest_of_all() const HOLDFAST_LOCKED;
    [[nodiscard]] failure summary() const HOLDFAST_LOCKED;
    [[nodiscard]] failure unknown_master(resp::view reply) const HOLDFAST_LOCKED;
    [[nodiscard]] endpoint sentinel_at(std::size_t which) const;
    [[nodiscard]] std::size_t count() const { return settings_.of.sentinels->addresses.size(); }
    [[nodiscard]] const std::string& master() const { return settings_.of.sentinels->master_name; }
    [[nodiscard]] clock::duration share() const {
        return settings_.connect_timeout / static_cast<int>(count() + 1);
    }

    network& network_;
    base::client_mutex& guard_;
    settings settings_;
    std::shared_ptr<credentials> shows_;

    asker* follower_ = nullptr;  // since it asked for the first time
    asker* asking_ = nullptr;    // waits for on_found() or on_not_found()
    std::size_t at_ = 0;         // the Sentinel that is linked to, or will be next
    std::size_t tried_ = 0;      // in this round
    std::vector<attempt> failed_;
    std::vector<sentinel_report> outdated_;

    std::unique_ptr<connection> link_;
    std::unique_ptr<connection> retired_;  // and those before it, until nobody is inside them
    bool asked_ = false;
    std::uint64_t questions_ = 0;  // answers to earlier ones say nothing any more
    sentinel_report report_;       // of the question under way
    std::string watches_;          // the masters that this Sentinel knows
    clock::time_point ask_at_ = clock::time_point::max();
    core::backoff delay_;
    bool closed_ = false;

    std::optional<std::uint64_t> epoch_;  // the newest that was heard of
    location found_;
};

}  // namespace holdfast::net
