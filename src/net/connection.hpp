#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/locks.hpp"
#include "holdfast/clock.hpp"
#include "net/exchange.hpp"
#include "net/handshake.hpp"
#include "net/network.hpp"
#include "net/pipeline.hpp"
#include "resp/framer.hpp"

namespace holdfast::net {

/// One life of a connection to one server, shared by all requests of a client.
///
///   opening ---> greeting ---> ready ---> down
///      \------------\--------------------/     on_down() is called once, and it is over
///
/// A server that pushes that it was emptied (FLUSHALL, FLUSHDB, a resynchronisation), or answers
/// that it is not the master, has to be enlisted again: the connection goes down, and what is
/// unanswered does not count.
///
/// Requests are answered in the order in which they were sent. One that passes its deadline is
/// reported as failed; its place in line stays, and its late answer is dropped. A connection
/// that owes answers and has been silent for `silence_limit` is taken to be dead.
///
/// An exception inside it, whoever is called, ends it: all that wait for answers are told. One
/// while a request is written, or its answer is read, fails that request alone.
///
/// Everything is called with the client's lock held.
class connection final : private transport::events {
  public:
    class owner {
      public:
        virtual void on_ready(const greeting& said) HOLDFAST_LOCKED = 0;
        virtual void on_down(const failure& why) noexcept HOLDFAST_LOCKED = 0;
        virtual void on_push(resp::view message) HOLDFAST_LOCKED = 0;

        /// The server does not know the script, and the request would be written once more: why it
        /// must not be. What has been learned since it was first sent may forbid it.
        [[nodiscard]] virtual std::optional<failure> why_not_again(
            const exchange& who, exchange::tag request) HOLDFAST_LOCKED = 0;

        /// From now on only the environment can tell what becomes of it.
        virtual void on_blocked() HOLDFAST_LOCKED = 0;

      protected:
        ~owner() = default;
    };

    struct settings {
        endpoint where;
        std::shared_ptr<credentials> shows{};  // as of network::prepare()
        std::string client_name;
        core::judge_policy policy;
        purpose what_for = purpose::lock;
        std::string vouched_life{};                       // as of introduction
        std::span<const scripts::script* const> loads{};  // in the handshake
        std::string channel{};                            // as of introduction
        core::replication group{};                        // that the server is the master of
        acknowledgement::terms acks{};                    // where the group asks for any
        bool clustered = false;                           // as of introduction
        clock::duration connect_timeout{};
        clock::duration silence_limit{};
    };

    connection(network& through, base::client_mutex& guard, const settings& how, owner& listener,
               clock::time_point now) HOLDFAST_LOCKED;
    ~connection();

    /// REQUIRES: ready. Sent with the next flush().
    void send(boost::intrusive_ptr<exchange> who, exchange::tag request, clock::time_point deadline,
              clock::time_point now) noexcept HOLDFAST_LOCKED;

    /// Takes in what has come while nobody looked, if that was for a while: that the server has
    /// closed the connection, or was emptied.
    void notice_hang_up(clock::time_point now) HOLDFAST_LOCKED;

    /// Goes down on purpose: what is known of the server is out of date.
    void hang_up(const failure& why) HOLDFAST_LOCKED { go_down(why); }

    /// Writes what has been appended, as far as the kernel takes it now.
    void flush() noexcept HOLDFAST_LOCKED;

    /// Reports requests past their deadline, and finds out whether the server is gone.
    void expire(clock::time_point now) noexcept HOLDFAST_LOCKED;

    /// When expire() will next have something to do.
    [[nodiscard]] clock::time_point wake_at() const HOLDFAST_LOCKED;

    /// What whoever drives may poll, and what to call then. -1: only the environment can tell.
    [[nodiscard]] int descriptor() const HOLDFAST_LOCKED {
        return writing_.empty() ? transport_->descriptor() : -1;
    }
    void take_in() noexcept HOLDFAST_LOCKED;
    void watch() HOLDFAST_LOCKED { transport_->watch(); }

    [[nodiscard]] bool ready() const HOLDFAST_LOCKED { return state_ == state::ready; }
    [[nodiscard]] bool answers_on_their_way() const HOLDFAST_LOCKED {
        return asked_.size() > unsent_;
    }
    [[nodiscard]] bool idle() const HOLDFAST_LOCKED { return asked_.empty(); }
    [[nodiscard]] bool has_unsent() const HOLDFAST_LOCKED { return !out_.empty(); }

    /// An unanswered request is past its deadline.
    [[nodiscard]] bool stalled() const HOLDFAST_LOCKED { return asked_.overdue(); }

    /// Closes, and reports everything unanswered. on_down() is not called.
    void fail_all(const failure& why) noexcept HOLDFAST_LOCKED;

    void abandon() noexcept { transport_->abandon(); }

    /// Lives as long as this one: its owner needs no memory to keep both.
    void keep(std::unique_ptr<connection> another) noexcept HOLDFAST_LOCKED {
        kept_ = std::move(another);
    }

  private:
    enum class state : std::uint8_t { opening, greeting, ready, down };

    void on_open(std::optional<failure> why_not) override HOLDFAST_LOCKED;
    void on_read(std::size_t bytes) override HOLDFAST_LOCKED;
    void on_written() override HOLDFAST_LOCKED;
    void on_broken(const failure& why) override HOLDFAST_LOCKED;

    void read_more() HOLDFAST_LOCKED;
    void take_frames() HOLDFAST_LOCKED;
    void take_frame(std::string_view frame) HOLDFAST_LOCKED;
    void take_push(std::string_view frame) HOLDFAST_LOCKED;
    void take_greeting(resp::view reply) HOLDFAST_LOCKED;
    void take_reply(std::string_view reply) HOLDFAST_LOCKED;
    void append(pipeline::request what) noexcept HOLDFAST_LOCKED;
    void encode(pipeline::request& what) HOLDFAST_LOCKED;
    void go_down(const failure& why) noexcept HOLDFAST_LOCKED;
    [[nodiscard]] std::string tls_hint() const HOLDFAST_LOCKED;

    /// What cannot be done ends this connection, and nothing else.
    template <typename Step>
    void contain(Step&& step) noexcept HOLDFAST_LOCKED;

    network& network_;
    owner& listener_;
    settings settings_;
    state state_ = state::opening;
    handshake handshake_;
    std::shared_ptr<transport> transport_;

    std::string out_;      // appended, not given to the transport
    std::string writing_;  // given to the transport, not finished
    std::string in_;       // received; [consumed_, received_) is not understood yet
    std::size_t consumed_ = 0;
    std::size_t received_ = 0;
    resp::framer framer_;

    pipeline asked_;
    std::size_t unsent_ = 0;     // how many of them, at the back, are still in out_
    clock::time_point heard_{};  // when something was last received, or first asked for
    clock::time_point opening_until_{};
    std::unique_ptr<connection> kept_;
};

}  // namespace holdfast::net
