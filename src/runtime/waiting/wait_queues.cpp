#include "runtime/waiting/wait_queues.hpp"

#include <cassert>

#include "core/tuning.hpp"

namespace holdfast::runtime {

wait_queue& wait_queues::open(const plan_pointer& what) {
    auto& first = open(what, what->keys.lock);
    const auto others = what->keys.rest();
    std::size_t opened = 0;
    try {
        for (; opened < others.size(); ++opened) open(what, others[opened]);
    } catch (...) {
        while (opened-- > 0) close(queues_.find(others[opened])->second);
        close(first);
        throw;
    }
    return first;
}

wait_queue& wait_queues::open(const plan& what, wait_queue& first) noexcept {
    each(what, first, [](wait_queue& here) HOLDFAST_LOCKED { open(here); });
    return first;
}

void wait_queues::close(const plan& what, wait_queue& first) noexcept {
    for (const auto& key : what.keys.rest()) close(queues_.find(key)->second);
    close(first);
}

wait_queue& wait_queues::open(const plan_pointer& what, const std::string& key) {
    return open(queues_.try_emplace(key, what, key).first->second);
}

wait_queue& wait_queues::open(wait_queue& known) noexcept {
    ++known.users_;
    return known;
}

void wait_queues::close(wait_queue& from) noexcept {
    assert(from.users_ > 0);
    if (--from.users_ > 0 || from.listed_) return;
    try {
        idle_.push_back(&from);
    } catch (const std::bad_alloc&) {
        queues_.erase(from.key());  // what it has learned is not worth more
        return;
    }
    from.listed_ = true;
    if (idle_.size() <= core::tuning::most_idle_queues) return;
    auto& oldest = *idle_.front();
    idle_.pop_front();
    oldest.listed_ = false;
    if (oldest.users_ == 0) queues_.erase(oldest.key());
}

void wait_queues::notified(std::string_view key, core::node_index where, core::time_point now) {
    const auto found = queues_.find(key);
    if (found == queues_.end()) return;
    auto& here = open(found->second);
    here.notified(where, now);
    close(here);
}

void wait_queues::notified_all(core::node_index where, core::time_point now) {
    for (auto* const here : open_those_with_waiters()) {
        here->notified(where, now);
        close(*here);
    }
}

bool wait_queues::called(const kinds::call& whom, core::time_point now) {
    const auto found = queues_.find(whom.lock);
    if (found == queues_.end()) return false;
    auto& here = open(found->second);
    const bool heard = here.called(whom.owner, now);
    close(here);
    return heard;
}

void wait_queues::released(std::string_view key, kinds::release_found what, core::time_point now) {
    const auto found = queues_.find(key);
    if (found == queues_.end()) return;
    found->second.told_quiet(what == kinds::release_found::released, now);
}

// Queue by queue, and each time from the first: whoever is aborted leaves, and the last to leave
// may take the queue along.
void wait_queues::abort_all() noexcept {
    for (auto next = queues_.begin(); next != queues_.end();) {
        auto& here = next->second;
        if (here.waiting().empty()) {
            ++next;
            continue;
        }
        open(here);
        // From the back, so that nobody gets a turn first.
        while (!here.waiting().empty()) here.waiting().back()->abort();
        close(here);
        next = queues_.begin();
    }
}

std::vector<std::string_view> wait_queues::waited_for() const {
    std::vector<std::string_view> all;
    for (const auto& [key, here] : queues_) {
        if (!here.waiting().empty()) all.push_back(key);
    }
    return all;
}

std::vector<wait_queue*> wait_queues::open_those_with_waiters() {
    std::vector<wait_queue*> all;
    all.reserve(queues_.size());  // whatever throws does so before anything is opened
    for (auto& [key, here] : queues_) {
        if (!here.waiting().empty()) all.push_back(&open(here));
    }
    return all;
}

}  // namespace holdfast::runtime
