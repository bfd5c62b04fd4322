# Mutants of src/runtime: read by mutate.cmake.

mutate(no_allowance_for_clock_rate runtime/plan.cpp
  [==[    const auto usable =]==]
  [==[    if (broken(no_allowance_for_clock_rate)) result->timing.drift_per_mille = 0;
    const auto usable =]==])

mutate(guard_time_forgotten runtime/plan.cpp
  [==[    const auto usable =]==]
  [==[    if (broken(guard_time_forgotten)) result->timing.guard_time = core::duration{0};
    const auto usable =]==])

mutate(owner_token_used_again runtime/operations/attempt.cpp
  [==[        owner_ = through.make_owner(*what_->kind, what_->label);]==]
  [==[        owner_ = broken(owner_token_used_again)
                     ? "hf1:again" + std::string(through.signature())
                     : through.make_owner(*what_->kind, what_->label);]==])

mutate(unknown_not_cleaned_up runtime/operations/attempt.cpp
  [==[if (!next.release_on.empty()) release_on(next.release_on, now);]==]
  [==[const auto unknown =
        broken(unknown_not_cleaned_up) ? machine_.unknown_from() : core::node_set{};
    if (!next.release_on.empty()) release_on(next.release_on - unknown, now);]==])

mutate(concluded_before_all_is_written runtime/operations/attempt.cpp
  [==[if (!machine_.decided()) ask(node, question::vote, {}, now);]==]
  [==[if (broken(concluded_before_all_is_written) || !machine_.decided()) {
            ask(node, question::vote, {}, now);
        }]==])

mutate(tokens_of_next_holders_not_drawn runtime/operations/attempt.cpp
  [==[const auto tokens = batch().tokens;]==]
  [==[const auto wanted = batch().tokens;
    const auto tokens = broken(tokens_of_next_holders_not_drawn) ? 1 : wanted;]==])

mutate(undo_forgotten_where_unanswered runtime/operations/attempt.cpp
  [==[return engine_.owed().owe(voters_.node_of(node), what_, owner_, key_gone_at(), entry());]==]
  [==[if (broken(undo_forgotten_where_unanswered)) return;
        return engine_.owed().owe(voters_.node_of(node), what_, owner_, key_gone_at(), entry());]==])

mutate(undo_of_another_owner runtime/operations/attempt.cpp
  [==[if (how == question::undo) {
        // By text]==]
  [==[if (how == question::undo && broken(undo_of_another_owner)) {
        const auto another = owner_ + "?";
        return what_->kind->release(out, true, what_->claim_by(another));
    }
    if (how == question::undo) {
        // By text]==])

mutate(missing_script_answered_too_late runtime/operations/attempt.cpp
  [==[bool attempt::wanted(tag request) const {]==]
  [==[bool attempt::wanted(tag request) const {
    if (broken(missing_script_answered_too_late)) return true;]==])

mutate(owed_release_forgotten runtime/engine.cpp
  [==[owed_.retry(node_at(which.index()), now);]==]
  [==[if (!broken(owed_release_forgotten)) owed_.retry(node_at(which.index()), now);]==])

mutate(refused_release_forgotten runtime/operations/release_retries.cpp
  [==[    owe(by, what, owner, until, entry);]==]
  [==[    if (!broken(refused_release_forgotten)) owe(by, what, owner, until, entry);]==])

mutate(debt_is_paid_once runtime/operations/release_retries.cpp
  [==[all.push_back(each); });]==]
  [==[all.push_back(each); });
    if (broken(debt_is_paid_once)) owed_ = {};]==])

mutate(unanswered_release_forgotten runtime/operations/releasing.cpp
  [==[    engine_.owed().owe(node, request_.what, *request_.owner, request_.key_gone_at);
    step(]==]
  [==[    if (!broken(unanswered_release_forgotten)) {
        engine_.owed().owe(node, request_.what, *request_.owner, request_.key_gone_at);
    }
    step(]==])

mutate(unanswered_release_counts runtime/operations/releasing.cpp
  [==[    const auto node = voters_.node_of(voter_of(asked));
    last_failure_]==]
  [==[    const auto node = voters_.node_of(voter_of(asked));
    if (broken(unanswered_release_counts)) step(core::release::released{voter_of(asked)});
    last_failure_]==])

mutate(released_and_handed_off runtime/operations/hold.cpp
  [==[    if (hand_off(left, now)) {]==]
  [==[    const auto own = std::make_shared<std::string>(acquired_.owner);
    if (hand_off(left, now)) {
        if (broken(released_and_handed_off)) {
            releasing::start(*engine_,
                             {.what = acquired_.what, .owner = own, .key_gone_at = key_gone_at()},
                             now, {});
        }]==])

mutate(shown_owner_handed_off runtime/operations/hold.cpp
  [==[                                              std::memory_order_acq_rel)) {
        return std::nullopt;]==]
  [==[                                              std::memory_order_acq_rel) &&
        !broken(shown_owner_handed_off)) {
        return std::nullopt;]==])

mutate(loss_not_announced runtime/operations/hold.cpp
  [==[if (announcement_) announcement_->make_by(]==]
  [==[if (announcement_ && !broken(loss_not_announced)) announcement_->make_by(]==])

mutate(watchdog_looks_late runtime/operations/hold.cpp
  [==[        engine_->set(*this, next.wake_at);]==]
  [==[        const auto late = acquired_.what->timing.ttl;
        const bool sleeps = broken(watchdog_looks_late) && next.wake_at != core::never;
        engine_->set(*this, sleeps ? next.wake_at + late : next.wake_at);]==])

mutate(renewal_is_believed_when_disowned runtime/operations/renewal.cpp
  [==[        step(core::renew::disowned{voter_of(request)});]==]
  [==[        if (broken(renewal_is_believed_when_disowned)) {
            return step(core::renew::extended{voter_of(request)});
        }
        step(core::renew::disowned{voter_of(request)});]==])

mutate(renewal_asks_for_half runtime/operations/renewal.cpp
  [==[claim.ttl = ttl_;]==]
  [==[claim.ttl = broken(renewal_asks_for_half) ? ttl_ / 2 : ttl_;]==])

mutate(turn_kept_by_who_leaves runtime/waiting/wait_queue.cpp
  [==[give_turn(order_.leave(who.id()), {}, now);]==]
  [==[const auto next = order_.leave(who.id());
    if (!broken(turn_kept_by_who_leaves)) give_turn(next, {}, now);]==])

mutate(place_not_left runtime/operations/acquiring.cpp
  [==[    if (!left) return;]==]
  [==[    if (!left || broken(place_not_left)) return;]==])

mutate(place_kept_after_no_answer runtime/operations/acquiring.cpp
  [==[            outcome.emptied = why.emptied;]==]
  [==[            outcome.emptied = why.emptied;
            if (broken(place_kept_after_no_answer)) place_ = attempt_->give_place();]==])

mutate(call_believed runtime/operations/acquiring.cpp
  [==[void acquiring::called(core::time_point now) noexcept {]==]
  [==[void acquiring::called(core::time_point now) noexcept {
    const bool waits = machine_.current() == core::contend::state::waiting;
    if (broken(call_believed) && place_ && waits) {
        const auto left = std::exchange(place_, std::nullopt);
        handed_off_ = hold::acquired{
            .what = request_.what,
            .owner = left->owner,
            .gained = {.sent_at = now, .valid_until = request_.what->timing.valid_until(now)}};
        return step(core::contend::handed_off{}, now);
    }]==])

mutate(line_passed_by_set runtime/operations/attempt.cpp
  [==[const bool passes_nobody =]==]
  [==[const bool passes_nobody = broken(line_passed_by_set) ||]==])

mutate(quiet_after_a_denial runtime/waiting/wait_queue.hpp
  [==[        quiet_until_ = so ?]==]
  [==[        quiet_until_ = so && broken(quiet_after_a_denial) ? core::never : so ?]==])

mutate(quiet_after_a_denial runtime/waiting/wait_queue.cpp
  [==[    quiet_until_ = {};]==]
  [==[    if (!broken(quiet_after_a_denial)) quiet_until_ = {};]==])

mutate(owed_leave_without_entry runtime/operations/release_retries.cpp
  [==[owed_.owe(to, {what, owner, until, std::string(entry)}, owner, until);]==]
  [==[const auto kept = broken(owed_leave_without_entry) ? std::string_view{} : entry;
        owed_.owe(to, {what, owner, until, std::string(kept)}, owner, until);]==])

mutate(fair_handed_off runtime/operations/acquiring.hpp
  [==[return what.fair || (]==]
  [==[return (what.fair && !broken(fair_handed_off)) || (]==])

mutate(listening_forgotten runtime/operations/acquiring.cpp
  [==[if (!denial_ || denial_->place != 1 ||]==]
  [==[if (broken(listening_forgotten) || !denial_ || denial_->place != 1 ||]==])

mutate(useless_place_kept runtime/operations/acquiring.cpp
  [==[    if (!place_) return;]==]
  [==[    if (!place_ || broken(useless_place_kept)) return;]==])

mutate(leaving_owed_for_a_ttl runtime/plan.hpp
  [==[return now + (in_line ?]==]
  [==[return now + (in_line && !broken(leaving_owed_for_a_ttl) ?]==])

mutate(unacknowledged_grant_counts runtime/operations/attempt.cpp
  [==[    if (!voter.acknowledges()) return count(node, how, token);]==]
  [==[    const bool counts = broken(unacknowledged_grant_counts);
    if (!voter.acknowledges() || counts) return count(node, how, token);]==])

mutate(unacknowledged_renewal_counts runtime/operations/renewal.cpp
  [==[        if (node.acknowledges()) return]==]
  [==[        const bool counts = broken(unacknowledged_renewal_counts);
        if (node.acknowledges() && !counts) return]==])

mutate(term_not_proclaimed runtime/operations/acquiring.cpp
  [==[        proclaiming::start(*engine_,]==]
  [==[        if (!broken(term_not_proclaimed)) proclaiming::start(*engine_,]==])

mutate(candidate_handed_off runtime/operations/acquiring.cpp
  [==[wants_several() || request_.what->candidate;]==]
  [==[wants_several() ||
        (request_.what->candidate && !broken(candidate_handed_off));]==])

mutate(candidate_handed_off runtime/operations/acquiring.cpp
  [==[           !wish.candidate && wish]==]
  [==[           (!wish.candidate || broken(candidate_handed_off)) && wish]==])
