# Mutants of src/net: read by mutate.cmake.

mutate(quarantine_of_a_millisecond net/enlisting.cpp
  [==[case enlisting::guarded: return]==]
  [==[case enlisting::guarded:
            if (broken(quarantine_of_a_millisecond)) return "1";
            return]==])

mutate(not_enlisted_after_reconnect net/handshake.cpp
  [==[state_ = votes ? state::enlisting : state::done;
    if (!votes) return;]==]
  [==[const bool skips = broken(not_enlisted_after_reconnect);
    state_ = votes && !skips ? state::enlisting : state::done;
    if (!votes || skips) return;]==])

mutate(enlisting_refused_and_ignored net/handshake.cpp
  [==[        if (!kept_from_us) return fail(std::move(*why));
        result_.not_enlisted = std::move(*why);]==]
  [==[        const bool ignored = broken(enlisting_refused_and_ignored);
        if (!kept_from_us && !ignored) return fail(std::move(*why));
        if (!ignored) result_.not_enlisted = std::move(*why);]==])

mutate(syncing_server_trusted net/handshake.cpp
  [==[if (who_.what_for == purpose::vouch) return enlisting::vouched;]==]
  [==[if (who_.what_for == purpose::vouch) return enlisting::vouched;
    const bool syncs = who_.policy.restart_guard && result_.field("aof_enabled") == "1";
    if (broken(syncing_server_trusted) && syncs) return enlisting::vouched;]==])

mutate(tracking_after_enlisting net/handshake.cpp
  [==[if (result_.protocol == 3) {]==]
  [==[if (result_.protocol == 3 && !broken(tracking_after_enlisting)) {]==])

mutate(tracking_after_enlisting net/handshake.cpp
  [==[        result_.enlisted = std::get<core::enlistment>(found);
    }]==]
  [==[        result_.enlisted = std::get<core::enlistment>(found);
    }
    if (broken(tracking_after_enlisting) && result_.protocol == 3 && result_.enlisted) {
        state_ = state::facts;
        asked_.clear();
        answered_ = 0;
        return ask(out, question::tracking, {"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"});
    }]==])

mutate(tracking_after_enlisting net/handshake.cpp
  [==[if (answered_ < asked_.size()) return;]==]
  [==[if (answered_ < asked_.size()) return;
    if (broken(tracking_after_enlisting) && result_.enlisted) {
        state_ = state::done;
        return;
    }]==])

mutate(emptied_unnoticed net/connection.cpp
  [==[const bool emptied = says_emptied(message);]==]
  [==[const bool emptied = !broken(emptied_unnoticed) && says_emptied(message);]==])

mutate(emptied_unnoticed_in_handshake net/connection.cpp
  [==[if (state_ == state::greeting && emptied) return handshake_.emptied();]==]
  [==[const bool unheard = broken(emptied_unnoticed_in_handshake);
    if (state_ == state::greeting && emptied && !unheard) return handshake_.emptied();]==])

mutate(missing_script_answered_too_late net/connection.cpp
  [==[!first.by_text && first.who->wanted(first.tag)) {]==]
  [==[!first.by_text &&
        (broken(missing_script_answered_too_late) || first.who->wanted(first.tag))) {]==])

mutate(missing_script_is_no_answer net/connection.cpp
  [==[    if (!first.who) return;
    if (knows_no_script]==]
  [==[    if (!first.who) return;
    if (broken(missing_script_is_no_answer) && knows_no_script(reply)) return;
    if (knows_no_script]==])

mutate(partial_write_taken_for_whole net/connection.cpp
  [==[if (sent == out_.size()) return out_.clear();]==]
  [==[const bool enough = broken(partial_write_taken_for_whole) && sent > 0;
    if (sent == out_.size() || enough) return out_.clear();]==])

mutate(unread_requests_never_reported net/connection.cpp
  [==[asked_.clear([&](exchange& left, exchange::tag request)
                     HOLDFAST_LOCKED { left.failed(request, why); });]==]
  [==[const bool mute = broken(unread_requests_never_reported);
    asked_.clear([&](exchange& left, exchange::tag request) {
        if (!mute) left.failed(request, why);
    });]==])

mutate(caching_answer_taken_for_the_vote net/connection.cpp
  [==[if (std::exchange(asked_.front().preceded, false)) return;]==]
  [==[if (std::exchange(asked_.front().preceded, false) &&
        !broken(caching_answer_taken_for_the_vote)) {
        return;
    }]==])

mutate(late_request_leaves_the_line net/pipeline.hpp
  [==[            late(*who, line_[n].tag);]==]
  [==[            late(*who, line_[n].tag);
            if (broken(late_request_leaves_the_line) && n < line_.size() && !line_[n].who) {
                line_.erase(line_.begin() + static_cast<std::ptrdiff_t>(n));
                --overdue_;
                --n;
            }]==])

mutate(record_of_the_first_connection net/node.cpp
  [==[    facts_ = said.facts();]==]
  [==[    const bool first = facts_.run_id.empty();
    if (first || !broken(record_of_the_first_connection)) facts_ = said.facts();]==])

mutate(unfit_for_good net/node.cpp
  [==[if (!(unfit || kept) || now]==]
  [==[if (broken(unfit_for_good) || !(unfit || kept) || now]==])

mutate(quarantine_before_its_acknowledgement net/handshake.cpp
  [==[core::judge(who_.policy), who_.group, acknowledged_);]==]
  [==[core::judge(who_.policy), who_.group,
                  acknowledged_ || broken(quarantine_before_its_acknowledgement));]==])

mutate(quarantine_before_its_acknowledgement net/handshake.cpp
  [==[        result_.enlisted = std::get<core::enlistment>(found);
    }]==]
  [==[        result_.enlisted = std::get<core::enlistment>(found);
    }
    const bool early = broken(quarantine_before_its_acknowledgement) && who_.group.acks > 0;
    if (early && result_.enlisted && !acknowledged_) return ask_replicas(out);]==])

mutate(no_quarantine_after_promotion net/node.cpp
  [==[    if (said_.enlisted) enlisted(*said_.enlisted, now);]==]
  [==[    const bool promoted = !facts_.second_replication_id.empty();
    if (broken(no_quarantine_after_promotion) && promoted && said_.enlisted) {
        said_.enlisted->quarantine = {};
    }
    if (said_.enlisted) enlisted(*said_.enlisted, now);]==])

mutate(confirmed_by_another_server net/node.cpp
  [==[        if (!one_server) return start_over(two_servers());]==]
  [==[        const bool any = broken(confirmed_by_another_server);
        if (!one_server && !any) return start_over(two_servers());]==])

mutate(confirmed_by_another_server net/acknowledgement.cpp
  [==[    const bool said = !info_field(replication_, "role").empty();
    return said && !core::same_life]==]
  [==[    const bool said = !info_field(replication_, "role").empty();
    const bool master = said && !life_after(of).is_replica;
    if (broken(confirmed_by_another_server) && master) return false;
    return said && !core::same_life]==])

mutate(replica_taken_for_the_master net/node.cpp
  [==[    if (const auto why = why_no_master(said)) return]==]
  [==[    const auto why = why_no_master(said);
    if (why && !broken(replica_taken_for_the_master)) return]==])

mutate(acknowledged_without_a_write net/acknowledgement.cpp
  [==[        case question::write:
            return]==]
  [==[        case question::write:
            if (broken(acknowledged_without_a_write)) return resp::append_command(out, {"PING"});
            return]==])

mutate(joined_to_the_round_under_way net/acknowledging.cpp
  [==[    void cover(std::vector<waiting> whom) {]==]
  [==[    void join(waiting who) { covered_.push_back(std::move(who)); }
    void cover(std::vector<waiting> whom) {]==])

mutate(joined_to_the_round_under_way net/acknowledging.hpp
  [==[    const round* under_way_ = nullptr;]==]
  [==[    round* under_way_ = nullptr;]==])

mutate(joined_to_the_round_under_way net/acknowledging.cpp
  [==[    waiting_.push_back({std::move(who), request, group});]==]
  [==[    if (broken(joined_to_the_round_under_way) && under_way_) {
        return under_way_->join({std::move(who), request, group});
    }
    waiting_.push_back({std::move(who), request, group});]==])
