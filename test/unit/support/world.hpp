#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/driving/environment.hpp"

/// A world in memory for the shipped runtime: a clock that stands still until it is told, byte
/// streams that are strings, and a queue of events. No threads, no sockets, no sleeping; the same
/// test takes the same course every time.
namespace holdfast::testing {

class memory_driver;
class memory_stream;

/// The other end of streams: a server, or a test that plays one.
class peer {
  public:
    virtual void connected(const std::shared_ptr<memory_stream>& by) = 0;
    virtual void received(memory_stream& from, std::string_view bytes) = 0;

  protected:
    ~peer() = default;
};

/// The clock, the queue, and who listens where.
///
/// What happens at the same time happens in the order in which it was asked for, and what arrives
/// before timers: as in production, where whoever drives reads before it fires.
class world {
  public:
    [[nodiscard]] core::time_point now() const { return now_; }

    void at(core::time_point when, std::function<void()> what);
    void soon(std::function<void()> what) { at(now_, std::move(what)); }

    /// Goes on to the next event, if there is any.
    bool step() { return step_until(core::never); }
    bool step_until(core::time_point last);

    /// Everything that happens now, and no later.
    void settle() { run_until(now_); }
    void run_until(core::time_point last);
    void run_for(core::duration span) { run_until(now_ + span); }

    /// Nobody listens where nobody was said to: connecting is refused there.
    void listen(const std::string& name, peer* who) { listeners_[name] = who; }
    [[nodiscard]] peer* listener(const std::string& name) const;

  private:
    friend class memory_driver;

    struct event {
        core::time_point when;
        std::uint64_t number;
        std::function<void()> what;
        bool operator>(const event& other) const {
            return when != other.when ? when > other.when : number > other.number;
        }
    };

    [[nodiscard]] memory_driver* earliest_driver() const;

    core::time_point now_{std::chrono::hours(100)};
    std::uint64_t events_ = 0;
    std::priority_queue<event, std::vector<event>, std::greater<>> queue_;
    std::vector<memory_driver*> drivers_;
    std::map<std::string, peer*> listeners_;
};

/// One byte stream. Both directions keep their order; what is said in one call arrives in one
/// piece, as far as the reader's buffer takes it.
class memory_stream final : public net::transport,
                            public std::enable_shared_from_this<memory_stream> {
  public:
    /// Runs what it is given with the client's lock held, and whatever follows from it.
    using runner = std::function<void(const std::function<void()>&)>;

    memory_stream(world& in, std::string to, events& listener, runner by);

    /// The other end's. They happen with the next events of the world.
    void say(std::string_view bytes);
    void hang_up();

    /// How many bytes can be written at once from now on; the rest waits for drain().
    void take_at_most(std::size_t bytes) { queue_ = bytes; }
    void drain();
    /// Neither direction brings anything until it is switched off.
    void stall(bool on);

    [[nodiscard]] bool closed() const { return listener_ == nullptr; }

    void open() override;
    void read(std::span<char> into) override;
    std::size_t write_now(std::string_view what) noexcept override;
    void write(std::string_view what) override;
    [[nodiscard]] bool hung_up() noexcept override { return hung_up_; }
    void close() noexcept override { listener_ = nullptr; }
    void abandon() noexcept override { close(); }

  private:
    void later(std::function<void()> what);
    void tell(const std::function<void()>& what);
    void transmit(std::string bytes);
    void deliver();

    world& world_;
    std::string to_;
    events* listener_;
    runner run_;
    std::span<char> into_;
    std::string arrived_;
    std::string blocked_;
    std::size_t queue_ = static_cast<std::size_t>(-1);
    bool hung_up_ = false;
    bool stalled_ = false;
};

/// Drives one client, when the world says so. As strict as the shipped one, which has a background
/// thread for what nobody waits for: while nobody waits and nothing is unattended it looks again
/// only when it was asked to, or when something arrives; and what a caller that waits has seen of
/// timers meanwhile, the background has not.
class memory_driver final : public runtime::driver {
  public:
    memory_driver(world& in, base::client_mutex& guard, machinery& driven);
    ~memory_driver() override;

    /// When it wants to look.
    [[nodiscard]] core::time_point due() const;
    /// Takes something in, if there is anything, fires what is due, and writes. Without the lock.
    void turn(const std::function<void()>& take_in = {});
    /// So that callers have to do without.
    void refuse_background(bool on) { refuses_ = on; }

    [[nodiscard]] std::shared_ptr<runtime::parker> parker_of_this_thread() override {
        return nullptr;
    }
    /// Lets the world go on until it is done. Aborts where that never happens.
    void wait(base::client_lock& lock, runtime::waiter& who) noexcept override;
    void finished(runtime::waiter& who) noexcept override { who.done = true; }
    void look_again() noexcept override {}
    [[nodiscard]] bool driving() const noexcept override { return driving_; }
    [[nodiscard]] bool about_to_drive() const noexcept override { return false; }
    void will_wait() noexcept override {}
    void require_background() override;
    void attend_by(core::time_point when) noexcept override {
        looks_at_ = std::min(looks_at_, when);
    }
    void call_back(runtime::callback& what) noexcept override;
    void stop() override;
    void abandon() noexcept override {}

  private:
    void run_callbacks();

    world& world_;
    base::client_mutex& guard_;
    machinery& driven_;
    core::time_point looks_at_ = core::never;
    std::size_t waiting_ = 0;
    bool driving_ = false;
    bool refuses_ = false;
    bool stopped_ = false;
    boost::intrusive::slist<runtime::callback, boost::intrusive::cache_last<true>> callbacks_;
    std::shared_ptr<memory_driver*> alive_ = std::make_shared<memory_driver*>(this);
};

/// One client's view of a world. `seed` is its chance, and its name in owner tokens.
class memory_environment final : public runtime::environment {
  public:
    explicit memory_environment(world& in, std::uint64_t seed = 1) : world_(in), seed_(seed) {}

    [[nodiscard]] memory_driver* driver() const { return driver_; }
    /// All that were opened, the newest last.
    [[nodiscard]] const std::vector<std::shared_ptr<memory_stream>>& streams() const {
        return streams_;
    }

    [[nodiscard]] clock::time_point now() const noexcept override { return world_.now(); }
    void draw(std::span<std::uint8_t> into) override;
    [[nodiscard]] std::string signature() const override;
    [[nodiscard]] std::shared_ptr<net::credentials> prepare(const net::endpoint&) override {
        return nullptr;
    }
    [[nodiscard]] std::shared_ptr<net::transport> make_transport(
        const net::endpoint& where, std::shared_ptr<net::credentials> with,
        base::client_mutex& guard, net::transport::events& listener) override;
    [[nodiscard]] std::unique_ptr<runtime::driver> make_driver(
        base::client_mutex& guard, runtime::driver::machinery& driven) override;

  private:
    world& world_;
    std::uint64_t seed_;
    std::uint64_t drawn_ = 0;
    memory_driver* driver_ = nullptr;
    std::vector<std::shared_ptr<memory_stream>> streams_;
};

}  // namespace holdfast::testing
