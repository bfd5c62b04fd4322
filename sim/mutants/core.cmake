# Mutants of src/core: read by mutate.cmake.

mutate(no_second_look core/acquire.cpp
  [==[if (valid_until() - now < enough) return]==]
  [==[if (!broken(no_second_look) && valid_until() - now < enough) return]==])

mutate(validity_from_reply core/acquire.cpp
  [==[    const auto enough =]==]
  [==[    if (broken(validity_from_reply)) started_at_ = now;
    const auto enough =]==])

mutate(token_without_commit core/acquire.cpp
  [==[if (up.size() >= majority(config_.nodes)) return hold(now);]==]
  [==[if (broken(token_without_commit) || up.size() >= majority(config_.nodes)) return hold(now);]==])

mutate(token_of_the_first core/acquire.cpp
  [==[granted_.for_each([&](node_index node) { token_ = std::max(token_, counter_[node.value]); });]==]
  [==[granted_.for_each([&](node_index node) {
        const bool first = broken(token_of_the_first) && token_ != fencing_token{};
        token_ = first ? token_ : std::max(token_, counter_[node.value]);
        if (broken(token_of_the_first)) counter_[node.value] = token_;
    });]==])

mutate(disowned_counts_as_committed core/acquire.cpp
  [==[    if (decided()) return {};
    granted_.erase(answer.node);]==]
  [==[    if (decided()) return {};
    if (broken(disowned_counts_as_committed)) {
        counter_[answer.node.value] = token_;
        return decide(now);
    }
    granted_.erase(answer.node);]==])

mutate(quorum_of_half core/acquire.cpp
  [==[    const auto quorum = majority(config_.nodes);
    if (granted_.size() + pending_.size() < quorum)]==]
  [==[    const auto quorum = majority(config_.nodes) - (broken(quorum_of_half) && config_.nodes > 1);
    if (broken(quorum_of_half) && granted_.size() >= quorum) return hold(now);
    if (granted_.size() + pending_.size() < quorum)]==])

mutate(unknown_counted_as_denied core/acquire.cpp
  [==[    unknown_.insert(answer.node);]==]
  [==[    (broken(unknown_counted_as_denied) ? denied_ : unknown_).insert(answer.node);]==])

mutate(cleanup_of_the_granted_only core/acquire.cpp
  [==[denied_ == all ? node_set{} : all]==]
  [==[broken(cleanup_of_the_granted_only) ? granted_ : denied_ == all ? node_set{} : all]==])

mutate(renewal_after_the_deadline core/renew.cpp
  [==[    const auto quorum = majority(config_.nodes);
    if (now >= config_.old_deadline)]==]
  [==[    const auto quorum = majority(config_.nodes);
    if (!broken(renewal_after_the_deadline) && now >= config_.old_deadline)]==])

mutate(renewal_by_one_node core/renew.cpp
  [==[if (extended_.size() >= quorum) {]==]
  [==[if (extended_.size() >= (broken(renewal_by_one_node) ? 1 : quorum)) {]==])

mutate(renewal_valid_from_reply core/renew.cpp
  [==[config_.timing.valid_until(sent_at_)]==]
  [==[config_.timing.valid_until(broken(renewal_valid_from_reply) ? now : sent_at_)]==])

mutate(never_renewed core/watchdog.cpp
  [==[return config_.renewing &&]==]
  [==[return !broken(never_renewed) && config_.renewing &&]==])

mutate(no_notice core/watchdog.cpp
  [==[if (now >= notice_at()) {]==]
  [==[if (broken(no_notice) && now >= notice_at()) return {.wake_at = valid_until_};
    if (now >= notice_at()) {]==])

mutate(release_reported_without_majority core/release.cpp
  [==[if (released_.size() >= quorum) return]==]
  [==[if (released_.size() >= (broken(release_reported_without_majority) ? 1 : quorum)) return]==])

mutate(clock_jump_ignored core/judge.cpp
  [==[if (jump) voided_until_]==]
  [==[if (jump && !broken(clock_jump_ignored)) voided_until_]==])

mutate(quarantine_not_asked core/judge.cpp
  [==[return now < quarantined_until() ?]==]
  [==[return !broken(quarantine_not_asked) && now < quarantined_until() ?]==])

mutate(waits_for_word_alone core/contend.cpp
  [==[    if (other.tracked && expires) {]==]
  [==[    if (broken(waits_for_word_alone) && other.tracked) return never;
    if (other.tracked && expires) {]==])

mutate(next_holder_keeps_the_token core/hand_off.cpp
  [==[if (next.token != fencing_token{}) ++next]==]
  [==[if (!broken(next_holder_keeps_the_token) && next.token != fencing_token{}) ++next]==])

mutate(handed_off_at_any_age core/hand_off.cpp
  [==[return left.hand_offs_left > 0 && asked_before && sound(left) && equal(granted, wished) &&]==]
  [==[if (broken(handed_off_at_any_age)) {
        return left.hand_offs_left > 0 && asked_before && sound(left) && equal(granted, wished);
    }
    return left.hand_offs_left > 0 && asked_before && sound(left) && equal(granted, wished) &&]==])

mutate(handed_to_latecomers core/hand_off.cpp
  [==[return {.tokens = static_cast<std::uint32_t>(all), .last]==]
  [==[const bool for_later = broken(handed_to_latecomers) && all > 1;
    return {.tokens = for_later ? most_holders : static_cast<std::uint32_t>(all), .last]==])

mutate(handed_to_latecomers core/hand_off.cpp
  [==[const bool asked_before =]==]
  [==[const bool asked_before = broken(handed_to_latecomers) ||]==])

mutate(spare_token_for_a_latecomer core/hand_off.cpp
  [==[next.joined <= left.last_arrival;]==]
  [==[broken(spare_token_for_a_latecomer) || next.joined <= left.last_arrival;]==])

mutate(shown_owner_handed_off core/hand_off.cpp
  [==[return left.unchanged && !left.shown; }]==]
  [==[return left.unchanged && (broken(shown_owner_handed_off) || !left.shown); }]==])

mutate(untracked_server_asked core/judge.cpp
  [==[if (guards() && !facts.tracking)]==]
  [==[if (!broken(untracked_server_asked) && guards() && !facts.tracking)]==])

mutate(another_floor_not_waited_for core/judge.cpp
  [==[found.begun || found.floor != floor_;]==]
  [==[found.begun || (!broken(another_floor_not_waited_for) && found.floor != floor_);]==])

mutate(turn_lost_with_the_holder core/local_queue.hpp
  [==[return change([&] { forget_if([&](const holding& each) { return each.who == hold; }); });]==]
  [==[if (broken(turn_lost_with_the_holder)) return std::nullopt;
        return change([&] { forget_if([&](const holding& each) { return each.who == hold; }); });]==])

mutate(only_the_last_debt_is_kept core/owed_releases.hpp
  [==[        auto& debts = debts_[node];
        debts.push_back(]==]
  [==[        auto& debts = debts_[node];
        if (broken(only_the_last_debt_is_kept)) debts.clear();
        debts.push_back(]==])

mutate(debts_of_another_node_settled core/owed_releases.hpp
  [==[        std::erase_if(found->second, [&](const debt& d) { return d.what == name; });]==]
  [==[        if (broken(debts_of_another_node_settled)) {
            for (auto& each : debts_) {
                std::erase_if(each.second, [&](const debt& d) { return d.what == name; });
            }
        }
        std::erase_if(found->second, [&](const debt& d) { return d.what == name; });]==])

mutate(no_look_in_line core/contend.cpp
  [==[    if (called) delay_.reset();]==]
  [==[    if (broken(no_look_in_line) && called) return never;
    if (called) delay_.reset();]==])
