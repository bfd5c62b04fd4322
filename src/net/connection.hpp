#pragma once

#include <boost/circular_buffer.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "holdfast/clock.hpp"
#include "net/exchange.hpp"
#include "net/handshake.hpp"
#include "net/transport.hpp"
#include "resp/framer.hpp"

namespace holdfast::net {

/// One life of a connection to one server, shared by all requests of a client.
///
///   opening ---> greeting ---> ready ---> down
///      \------------\--------------------/     on_down() is called once, and it is over
///
/// Requests are answered in the order in which they were sent. One that passes its deadline is
/// reported as failed; its place in line stays, and its late answer is dropped. A connection
/// that owes answers and has been silent for `silence_limit` is taken to be dead.
///
/// Everything is called with the client's lock held.
class connection final : private transport::events {
  public:
    class owner {
      public:
        virtual void on_ready(const greeting& said) = 0;
        virtual void on_down(const failure& why) = 0;
        virtual void on_push(resp::view message) = 0;

        /// From now on the io_context has to be driven for it.
        virtual void on_blocked() = 0;

      protected:
        ~owner() = default;
    };

    struct settings {
        endpoint where;
        std::string client_name;
        core::judge_policy policy;
        clock::duration connect_timeout{};
        clock::duration silence_limit{};
    };

    connection(boost::asio::io_context& io, std::mutex& guard, const settings& how, owner& listener,
               clock::time_point now);
    ~connection();

    /// REQUIRES: ready. Sent with the next flush().
    void send(boost::intrusive_ptr<exchange> who, exchange::tag request, clock::time_point deadline,
              clock::time_point now);

    /// Goes down if the server has closed a connection that nobody has looked at for a while.
    void notice_hang_up(clock::time_point now);

    /// Writes what has been appended, as far as the kernel takes it now.
    void flush();

    /// Reports requests past their deadline, and finds out whether the server is gone.
    void expire(clock::time_point now);

    /// When expire() will next have something to do.
    [[nodiscard]] clock::time_point wake_at() const;

    /// What whoever drives may poll instead of running the io_context, and what to call then. -1:
    /// only the io_context can tell.
    [[nodiscard]] int descriptor() const {
        return writing_.empty() ? transport_->descriptor() : -1;
    }
    void take_in() { transport_->take_in(); }
    void watch() { transport_->watch(); }

    [[nodiscard]] bool ready() const { return state_ == state::ready; }
    [[nodiscard]] bool answers_on_their_way() const { return slots_.size() > unsent_; }
    [[nodiscard]] bool has_unsent() const { return !out_.empty(); }

    /// The oldest unanswered request is past its deadline.
    [[nodiscard]] bool stalled() const { return expired_ > 0; }

    /// Closes, and reports everything unanswered. on_down() is not called.
    void fail_all(const failure& why);

    void abandon() noexcept { transport_->abandon(); }

  private:
    enum class state : std::uint8_t { opening, greeting, ready, down };

    static constexpr std::size_t first_slots = 16;

    struct slot {
        boost::intrusive_ptr<exchange> who;  // null: past its deadline
        exchange::tag request = 0;
        clock::time_point deadline{};
        bool by_text = false;
        bool preceded = false;  // by a command whose answer comes first, and says nothing
    };

    void on_open(std::optional<failure> why_not) override;
    void on_read(std::size_t bytes) override;
    void on_written() override;
    void on_broken(const failure& why) override;

    void read_more();
    void take_frames();
    void take_frame(std::string_view frame);
    void take_greeting(resp::view reply);
    void take_reply(std::string_view reply);
    void append(slot request);
    void go_down(const failure& why);

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

    boost::circular_buffer<slot> slots_{first_slots};  // unanswered requests, oldest first
    std::size_t unsent_ = 0;                           // how many at the back are still in out_
    std::size_t expired_ = 0;    // how many at the front are past their deadline
    clock::time_point heard_{};  // when something was last received, or first asked for
    clock::time_point opening_until_{};
};

}  // namespace holdfast::net
