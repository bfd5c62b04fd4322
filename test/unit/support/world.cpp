#include "unit/support/world.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

namespace holdfast::testing {
namespace {

// More steps than any test needs: somebody spins.
constexpr int too_many = 1'000'000;

[[noreturn]] void give_up(const char* why) {
    std::fprintf(stderr, "the world in memory: %s\n", why);
    std::abort();
}

}  // namespace

void world::at(core::time_point when, std::function<void()> what) {
    queue_.push({std::max(when, now_), ++events_, std::move(what)});
}

memory_driver* world::earliest_driver() const {
    const auto first = std::min_element(
        drivers_.begin(), drivers_.end(),
        [](const auto* left, const auto* right) { return left->due() < right->due(); });
    return first == drivers_.end() || (*first)->due() == core::never ? nullptr : *first;
}

bool world::step_until(core::time_point last) {
    auto* const driver = earliest_driver();
    const auto timer = driver != nullptr ? driver->due() : core::never;
    const auto next = queue_.empty() ? core::never : queue_.top().when;
    if (std::min(next, timer) == core::never || std::min(next, timer) > last) return false;
    now_ = std::max(now_, std::min(next, timer));
    if (timer < next) {
        driver->turn();
        return true;
    }
    const auto what = queue_.top().what;
    queue_.pop();
    what();
    return true;
}

void world::run_until(core::time_point last) {
    for (int steps = 0; step_until(last); ++steps) {
        if (steps == too_many) give_up("it does not come to rest");
    }
    now_ = std::max(now_, last);
}

peer* world::listener(const std::string& name) const {
    const auto found = listeners_.find(name);
    return found == listeners_.end() ? nullptr : found->second;
}

memory_stream::memory_stream(world& in, std::string to, events& listener, runner by)
    : world_(in), to_(std::move(to)), listener_(&listener), run_(std::move(by)) {}

void memory_stream::later(std::function<void()> what) {
    world_.soon([self = shared_from_this(), what = std::move(what)] { what(); });
}

void memory_stream::tell(const std::function<void()>& what) {
    if (listener_ != nullptr) run_(what);
}

void memory_stream::open() {
    later([this] {
        auto* const other = world_.listener(to_);
        if (other != nullptr && listener_ != nullptr) other->connected(shared_from_this());
        tell([&] {
            listener_->on_open(other != nullptr
                                   ? std::nullopt
                                   : std::optional(net::no_answer("Connection refused")));
        });
    });
}

void memory_stream::say(std::string_view bytes) {
    later([this, bytes = std::string(bytes)] {
        arrived_ += bytes;
        deliver();
    });
}

void memory_stream::hang_up() {
    later([this] {
        hung_up_ = true;
        deliver();
    });
}

void memory_stream::stall(bool on) {
    stalled_ = on;
    if (!on) later([this] { deliver(); });
}

void memory_stream::read(std::span<char> into) {
    into_ = into;
    if (!arrived_.empty() || hung_up_) later([this] { deliver(); });
}

// After an event the reader may read on: the rest follows with the next one.
void memory_stream::deliver() {
    if (listener_ == nullptr || into_.empty() || stalled_) return;
    if (!arrived_.empty()) {
        const auto into = std::exchange(into_, {});
        const auto bytes = std::min(into.size(), arrived_.size());
        std::memcpy(into.data(), arrived_.data(), bytes);
        arrived_.erase(0, bytes);
        tell([&] { listener_->on_read(bytes); });
    } else if (hung_up_) {
        into_ = {};
        tell([&] { listener_->on_broken(net::no_answer("connection closed by the server")); });
    }
}

void memory_stream::transmit(std::string bytes) {
    later([this, bytes = std::move(bytes)] {
        auto* const other = world_.listener(to_);
        if (other != nullptr && !hung_up_ && !stalled_) other->received(*this, bytes);
    });
}

std::size_t memory_stream::write_now(std::string_view what) noexcept {
    const auto bytes = std::min(what.size(), queue_);
    if (queue_ != static_cast<std::size_t>(-1)) queue_ -= bytes;
    if (bytes > 0) transmit(std::string(what.substr(0, bytes)));
    return bytes;
}

void memory_stream::write(std::string_view what) { blocked_ = what; }

void memory_stream::drain() {
    later([this] {
        queue_ = static_cast<std::size_t>(-1);
        if (blocked_.empty()) return;
        transmit(std::exchange(blocked_, {}));
        tell([this] { listener_->on_written(); });
    });
}

memory_driver::memory_driver(world& in, base::client_mutex& guard, machinery& driven)
    : world_(in), guard_(guard), driven_(driven) {
    world_.drivers_.push_back(this);
}

memory_driver::~memory_driver() { std::erase(world_.drivers_, this); }

core::time_point memory_driver::due() const {
    if (stopped_) return core::never;
    const bool attended = waiting_ > 0 || driven_.unattended();
    return attended ? std::min(looks_at_, driven_.wake_at()) : looks_at_;
}

void memory_driver::turn(const std::function<void()>& take_in) {
    if (stopped_) return;
    const base::client_lock lock(guard_);
    driving_ = true;
    driven_.flush();
    if (take_in) take_in();
    driven_.fire(world_.now());
    driving_ = false;
    if (waiting_ == 0 || looks_at_ <= world_.now()) looks_at_ = driven_.wake_at();
}

void memory_driver::wait(base::client_lock& lock, runtime::waiter& who) noexcept {
    ++waiting_;
    driven_.flush();
    lock.unlock();
    while (!who.done) {
        if (!world_.step()) give_up("somebody waits for what never comes");
    }
    lock.lock();
    --waiting_;
}

void memory_driver::require_background() {
    if (refuses_) throw std::system_error(EAGAIN, std::generic_category(), "no thread");
}

void memory_driver::call_back(runtime::callback& what) noexcept {
    callbacks_.push_back(what);
    world_.soon([alive = std::weak_ptr(alive_)] {
        if (const auto self = alive.lock()) (*self)->run_callbacks();
    });
}

void memory_driver::run_callbacks() {
    while (!callbacks_.empty()) {
        auto& next = callbacks_.front();
        callbacks_.pop_front();
        next.run();
    }
}

void memory_driver::stop() {
    stopped_ = true;
    run_callbacks();
}

// SplitMix64: enough to look like chance.
void memory_environment::draw(std::span<std::uint8_t> into) {
    for (auto& byte : into) {
        auto z = seed_ * 0x9e3779b97f4a7c15U + ++drawn_ * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        byte = static_cast<std::uint8_t>(z >> 56U);
    }
}

std::string memory_environment::signature() const {
    return ":tester@memory:" + std::to_string(seed_) + ":";
}

std::shared_ptr<net::transport> memory_environment::make_transport(
    const net::endpoint& where, std::shared_ptr<net::credentials>, base::client_mutex& guard,
    net::transport::events& listener) {
    auto made = std::make_shared<memory_stream>(world_, where.name(), listener,
                                                [this, &guard](const std::function<void()>& what) {
                                                    if (driver_ != nullptr)
                                                        return driver_->turn(what);
                                                    const base::client_lock lock(guard);
                                                    what();
                                                });
    streams_.push_back(made);
    return made;
}

std::unique_ptr<runtime::driver> memory_environment::make_driver(
    base::client_mutex& guard, runtime::driver::machinery& driven) {
    auto made = std::make_unique<memory_driver>(world_, guard, driven);
    driver_ = made.get();
    return made;
}

}  // namespace holdfast::testing
