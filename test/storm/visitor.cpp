#include "storm/visitor.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "storm/account.hpp"

namespace holdfast::storm {
namespace {

using std::chrono::milliseconds;

// Between two generations of a worker, so that no number comes twice.
constexpr std::uint64_t numbers_per_generation = 4'000'000 * threads_per_worker;

/// As the library has it (drift_per_mille, and two milliseconds): from a deadline it tells when
/// the attempt was sent.
instant guard_of(milliseconds ttl) { return instant(ttl) / 100 + milliseconds(2); }

instant deadline_of(const lease& held) { return held.valid_until().time_since_epoch(); }

std::string_view name_of(release_result result) {
    switch (result) {
        case release_result::released: return "released";
        case release_result::already_lost: return "already_lost";
        case release_result::unknown: return "unknown";
    }
    return "?";
}

std::string_view name_of(manner waits) {
    switch (waits) {
        case manner::once: return "once";
        case manner::limited: return "limited";
        case manner::cancelled: return "cancelled";
        case manner::patient: return "patient";
    }
    return "?";
}

}  // namespace

visitor::visitor(client& through, recorder& notes, const worker_orders& orders, std::size_t thread)
    : client_(through),
      notes_(notes),
      registers_(orders.register_port),
      name_(orders.name + static_cast<char>('a' + thread) + std::to_string(orders.generation)),
      random_(orders.seed * 1000 + orders.generation * 10 + thread),
      number_(orders.generation * numbers_per_generation + thread),
      queued_(orders.urls.size() == 1) {}

void visitor::roam(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        visit(stop);
        number_ += threads_per_worker;
        think(rush_ ? 0 : brisk_ ? 1 : 10, rush_ ? 3 : brisk_ ? 20 : 80);
    }
}

void visitor::visit(const std::stop_token& stop) {
    rush_ = registers_.rush();
    brisk_ = rush_ || chance(50);
    const auto any = static_cast<std::size_t>(between(0, keys.size() - 1));
    const std::string key(brisk_ ? popular_key : keys.at(any));
    const acquire_options how = choose_how();
    const manner waits = choose_manner();
    notes_.note({.what = happening::began,
                 .hold = number_,
                 .subject = key,
                 .text = std::string(name_of(waits)) + (how.fair ? " fair" : "")});
    try {
        acquisition got = attempt(key, how, waits, stop);
        if (got) {
            hold(std::move(*got), how, stop);
        } else {
            note(happening::denied);
        }
    } catch (const std::system_error& error) {
        const bool cancelled = error.code() == errc::cancelled;
        note(cancelled ? happening::cancelled : happening::failed, error.what());
    }
}

acquire_options visitor::choose_how() {
    acquire_options how{.ttl = common_ttl};
    how.fair = queued_ && !rush_ && chance(25);
    if (brisk_) return how;
    how.ttl = milliseconds(between(shortest_ttl.count(), longest_ttl.count()));
    how.renew = chance(75);
    return how;
}

manner visitor::choose_manner() {
    if (rush_) return manner::patient;
    if (!brisk_ && chance(30)) return manner::once;
    if (chance(50)) return manner::limited;
    return chance(20) ? manner::cancelled : manner::patient;
}

acquisition visitor::attempt(const std::string& key, const acquire_options& how, manner waits,
                             const std::stop_token& stop) {
    mutex lock(client_, key, how);
    switch (waits) {
        case manner::once: return lock.try_acquire();
        case manner::limited: return lock.try_acquire_for(milliseconds(between(50, 4000)), stop);
        case manner::cancelled: return attempt_until_cancelled(lock, stop);
        case manner::patient: break;
    }
    return {lock.acquire(stop)};
}

/// Another thread changes its mind for it, soon: most who stand in line do so for a moment.
acquisition visitor::attempt_until_cancelled(mutex& lock, const std::stop_token& stop) {
    std::stop_source cancel;
    const std::stop_callback ended(stop, [&] { cancel.request_stop(); });
    const milliseconds time(chance(80) ? between(1, 100) : between(100, 4000));
    const std::jthread changes_its_mind([&cancel, time](const std::stop_token& over) {
        std::mutex mutex;
        std::unique_lock guard(mutex);
        std::condition_variable_any{}.wait_for(guard, over, time, [] { return false; });
        cancel.request_stop();
    });
    return {lock.acquire(cancel.get_token())};
}

void visitor::hold(lease held, const acquire_options& how, const std::stop_token& stop) {
    deadline_ = deadline_of(held);
    notes_.note({.what = happening::acquired,
                 .hold = number_,
                 .token = held.token(),
                 .until = deadline_,
                 .since = deadline_ - instant(how.ttl) + guard_of(how.ttl)});
    const std::stop_callback announced(held.stop_token(), [this, number = number_] {
        notes_.note({.what = happening::warned, .hold = number});
    });
    if (chance(10)) show_owner(held);
    // Mostly a short visit; sometimes one that outlives its ttl, and needs to be renewed.
    const bool stays = !brisk_ && chance(3);
    const auto visits = stays ? between(30, 60) : between(1, brisk_ ? 1 : 4);
    for (std::int64_t n = 0; n < visits && !stop.stop_requested(); ++n) {
        if (!update(held)) break;
        if (stays) think(30, 60);
    }
    let_go(std::move(held));
}

/// False when the lease is over. The thinking between the last look at the lease and the writes is
/// what no lock can guard.
bool visitor::update(const lease& held) {
    const std::string plain = registers_.read_plain(held.key());
    const auto fenced = registers_.read_fenced(held.key(), held.token());
    think(brisk_ ? 0 : 2, brisk_ ? 3 : 15);
    if (found_lost(held)) return false;
    if (!brisk_ && chance(20)) think(20, 150);
    write_plain(held, plain);
    if (fenced) {
        write_fenced(held, *fenced);
    } else {
        notes_.note(
            {.what = happening::refused, .hold = number_, .subject = "fenced:" + held.key()});
    }
    return true;
}

bool visitor::found_lost(const lease& held) {
    const bool lost = held.lost();
    const instant until = deadline_of(held);
    if (lost) {
        notes_.note({.what = happening::lost, .hold = number_, .until = until});
    } else if (until != deadline_) {
        deadline_ = until;
        notes_.note({.what = happening::extended, .hold = number_, .until = until});
    }
    return lost;
}

void visitor::write_plain(const lease& held, const std::string& base) {
    const std::string version = name_ + '-' + std::to_string(++version_);
    const std::string where = "plain:" + held.key();
    notes_.note({.what = happening::intends,
                 .hold = number_,
                 .subject = where,
                 .text = base + ' ' + version});
    registers_.write_plain(held.key(), version);
    notes_.note({.what = happening::wrote, .hold = number_, .subject = where, .text = version});
}

void visitor::write_fenced(const lease& held, const std::string& base) {
    const std::string version = name_ + '-' + std::to_string(++version_);
    const std::string where = "fenced:" + held.key();
    notes_.note({.what = happening::intends,
                 .hold = number_,
                 .subject = where,
                 .text = base + ' ' + version});
    const bool accepted = registers_.write_fenced(held.key(), held.token(), version);
    notes_.note({.what = accepted ? happening::wrote : happening::refused,
                 .hold = number_,
                 .subject = where,
                 .text = version});
}

void visitor::show_owner(const lease& held) { note(happening::shown, held.owner()); }

void visitor::let_go(lease held) {
    if (!rush_ && chance(3)) {
        held.detach();
        note(happening::left);
        return;
    }
    notes_.note({.what = happening::releasing, .hold = number_, .until = deadline_of(held)});
    note(happening::released, std::string(name_of(held.release())));
    if (chance(10)) show_owner(held);
}

void visitor::note(happening what, std::string text) {
    notes_.note({.what = what, .hold = number_, .text = std::move(text)});
}

std::int64_t visitor::between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
}

void visitor::think(std::int64_t least_ms, std::int64_t most_ms) {
    std::this_thread::sleep_for(milliseconds(between(least_ms, most_ms)));
}

}  // namespace holdfast::storm
