#include "runtime/rooms.hpp"

#include <vector>

namespace holdfast::runtime {
namespace {

constexpr std::size_t most_idle = 64;

}  // namespace

room& rooms::enter(const plan_pointer& what) {
    return enter(rooms_.try_emplace(what->keys.lock, what).first->second);
}

room& rooms::enter(room& known) {
    ++known.users_;
    return known;
}

void rooms::exit(room& from) {
    if (--from.users_ > 0 || from.listed_) return;
    from.listed_ = true;
    idle_.push_back(&from);
    if (idle_.size() <= most_idle) return;
    auto& oldest = *idle_.front();
    idle_.pop_front();
    oldest.listed_ = false;
    if (oldest.users_ == 0) rooms_.erase(oldest.key());
}

void rooms::told(std::string_view key, core::node_index where, core::time_point now) {
    const auto found = rooms_.find(key);
    if (found == rooms_.end()) return;
    auto& here = enter(found->second);
    here.told(where, now);
    exit(here);
}

void rooms::told_all(core::node_index where, core::time_point now) {
    std::vector<room*> all;
    for (auto& [key, here] : rooms_) {
        if (!here.waiting().empty()) all.push_back(&enter(here));
    }
    for (auto* const here : all) here->told(where, now);
    for (auto* const here : all) exit(*here);
}

void rooms::abort_all() {
    std::vector<contender*> everybody;
    for (const auto& [key, here] : rooms_) {
        everybody.insert(everybody.end(), here.waiting().begin(), here.waiting().end());
    }
    for (auto* const who : everybody) who->abort();
}

}  // namespace holdfast::runtime
