#include "sim/check/checkers.hpp"

#include <algorithm>

namespace holdfast::sim {
namespace {

// Long enough for a release to find no script and be sent again, each leg as slow as is not yet
// called a disturbance. That it found none is read when the answer is overdue, where nobody awaits
// it; a server has none that forgot it or refused to learn it.
core::duration cleanup_time(const plan& settings) {
    const bool unread = settings.has(fault::script_flush) || settings.has(fault::permission) ||
                        settings.has(fault::refusal);
    return settings.base_delay * 16 + (unread ? settings.node_timeout * 2 : core::duration{0});
}

// What a server has promised it keeps: none forgets, and no clock jumps by more than is provided
// for. In a group it is what so many servers have known at some time.
bool servers_keep_all(const plan& settings) {
    if (settings.grouped())
        return settings.replication().acks > 0 && settings.clocks_keep_to_guard();
    return !settings.forgets() && settings.promises_exclusion();
}

}  // namespace

checkers::checkers(world& in, const network& on, const key_watch& keys)
    : world_(in),
      network_(on),
      keys_(keys),
      exclusion_promised_(in.settings().promises_exclusion()),
      quorum_promised_(servers_keep_all(in.settings())),
      order_promised_(in.settings().promises_token_order()),
      owners_(1),
      holders_(1),
      unheld_(in.settings().clients),
      clocks_(in),
      pace_(in),
      kinds_(in, *this),
      leaders_(in, *this, keys),
      latches_(in, *this) {
    owners_.reserve(128);
    holders_.reserve(64);
}

holder_id checkers::decided(const grant& what) {
    const auto owned = know(what.owner, what.client, what.sent);
    auto& record = owners_[owned];
    const bool same_owner = record.held_by != 0;
    const bool handed_off = same_owner && what.sent == record.last_sent;
    const auto who = static_cast<holder_id>(holders_.size());
    holders_.push_back({what.client, what.caller, owned, handed_off ? what.asked : what.sent,
                        what.reads, what.what});
    if (handed_off) hand_off(who, what);
    if (same_owner) follow(who, owned, what);
    record.held_by = who;
    record.last_sent = what.sent;
    if (++record.holders == 1) record.first_sent = what.sent;
    check_batch(who, what);
    check_quorum(who, what.owner, what.deadline);
    std::erase(unheld_[what.client], owned);
    if (what.stale) {
        report(rule::staleness,
               name_of_holder(who) +
                   " was told that it holds, although its deadline had passed at " +
                   seconds(what.deadline));
    }
    if (world_.settings().kind.which == other_kind::election) {
        leaders_.elected({std::string(what.owner), what.token.value,
                          value_of_candidate(what.client, what.caller)});
    }
    if (!world_.settings().fencing) return who;
    check_order(who, what.token);
    const auto before = successes_.empty() ? success{} : successes_.back();
    const auto written = what.reads ? before.written : std::max(before.written, what.token);
    successes_.push_back({who, what.at, what.token, std::max(before.largest, what.token), written});
    return who;
}

holder_id checkers::downgraded(holder_id who, std::string_view as, instant at, instant expired) {
    const auto wrote = holders_[who];
    const auto owned = know(as, wrote.client, at);
    const auto reader = static_cast<holder_id>(holders_.size());
    holders_.push_back({wrote.client, wrote.caller, owned, wrote.started, true});
    owners_[owned].held_by = reader;
    for (auto& held : leases_) {
        if (held.who == who) held.who = reader;
    }
    end_owner(wrote.owner, at, expired, true);
    ++downgrades_;
    return reader;
}

// Whoever decides has looked at its clock since now: it cannot have found it younger than this.
void checkers::hand_off(holder_id who, const grant& what) {
    ++handed_off_;
    const auto longest =
        std::min(core::hand_off_window, world_.settings().timing.ttl / 8) * 101 / 100;
    const auto age = world_.now() - what.sent;
    if (age > longest || what.deadline - world_.now() < what.least * 99 / 100) {
        report(rule::staleness, name_of_holder(who) + " is handed a lease that is " + seconds(age) +
                                    " old, and ends at " + seconds(what.deadline));
    }
}

// Another of its process had it under the same owner, and has let go.
void checkers::follow(holder_id who, owner_id which, const grant& what) {
    if (what.fair) {
        report(rule::line,
               name_of_holder(who) + " wants to be served in turn, and is handed the lock");
    }
    if (what.reads) {
        report(rule::ownership, name_of_holder(who) + " reads, and is handed the lock");
    }
    const auto other = owners_[which].shown_by;
    if (other == 0) return;
    report(rule::ownership, name_of_holder(who) + " goes on under the owner that " +
                                name_of_holder(other) + " has shown, which has let go");
}

// Others wait, too. From request to request, by the clock of the process: what decides is that.
void checkers::check_batch(holder_id who, const grant& what) {
    if (world_.settings().of_other_kind()) return;  // nobody tells when one owner has it anew
    const auto& record = owners_[holders_[who].owner];
    const auto longest =
        std::min(core::hand_off_window, world_.settings().timing.ttl / 8) * 101 / 100;
    const auto kept = what.sent - record.first_sent;
    if (kept <= longest && record.holders <= core::most_holders) return;
    report(rule::staleness, name_of_holder(who) + " is the holder number " +
                                std::to_string(record.holders) +
                                " of its process, which first "
                                "asked " +
                                seconds(kept) + " before");
}

// Real-time order: who asked after another was decided must have the larger token. Two that read,
// at several servers, need not.
void checkers::check_order(holder_id who, core::fencing_token token) {
    if (!order_promised_) return;
    if (world_.settings().of_other_kind()) return check_order_of_places(who, token);
    for (const auto& earlier : successes_) {
        if (earlier.token == token && !may_share_token(who, earlier.who)) {
            report(rule::token_order, name_of_holder(who) + " and " + name_of_holder(earlier.who) +
                                          " both got token " + std::to_string(token.value));
        }
    }
    const auto started = holders_[who].started;
    const auto after = std::ranges::upper_bound(successes_, started, {}, &success::decided);
    if (after == successes_.begin()) return;
    const auto& last = *std::prev(after);
    const auto above = may_share_token(who, who) ? last.written : last.largest;
    if (above < token) return;
    report(rule::token_order, name_of_holder(who) + " asked at " + seconds(started) +
                                  " and got token " + std::to_string(token.value) + ", not above " +
                                  std::to_string(above.value) + " that had been given out before");
}

// The same, among those who have had one of its places.
void checkers::check_order_of_places(holder_id who, core::fencing_token token) {
    const auto& record = holders_[who];
    for (const auto& earlier : successes_) {
        if ((holders_[earlier.who].what & record.what) == 0) continue;
        const bool before = earlier.decided <= record.started;
        if (earlier.token != token && (earlier.token < token || !before)) continue;
        report(rule::token_order,
               name_of_holder(who) + " asked at " + seconds(record.started) + " and got token " +
                   std::to_string(token.value) + ", and " + name_of_holder(earlier.who) +
                   " before, in one of its places, " + std::to_string(earlier.token.value));
    }
}

void checkers::returned(holder_id who, instant at, instant deadline) {
    check_exclusion(who, at, deadline);
    leases_.push_back({who, deadline});
}

// Servers that lose nothing hold what they granted for at least as long as anybody believes in it.
void checkers::check_quorum(holder_id who, std::string_view named, instant deadline) {
    if (!quorum_promised_ || deadline <= world_.now()) return;
    const auto backing = keys_.backing(named, holders_[who].what, deadline);
    if (backing >= world_.settings().backers()) return;
    report(rule::quorum, name_of_holder(who) + " believes to hold until " + seconds(deadline) +
                             ", and no more than " + std::to_string(backing) +
                             " servers hold its key until then");
}

void checkers::jumped(std::uint32_t server, core::duration by) {
    clocks_.jumped(server, by);
    for (const auto& held : leases_) {
        check_quorum(held.who, owners_[holders_[held.who].owner].name, held.deadline);
    }
}

void checkers::shown(holder_id who, std::string_view as) {
    auto& other = owners_[know(as, holders_[who].client, world_.now())].shown_by;
    if (other != 0 && other != who) {
        report(rule::ownership, name_of_holder(who) + " and " + name_of_holder(other) +
                                    " show one and the same owner");
    }
    other = who;
}

void checkers::renewed(holder_id who, instant at, bool stale, instant deadline) {
    check_exclusion(who, at, deadline);
    for (auto& held : leases_) {
        if (held.who != who) continue;
        if (stale) {
            report(rule::staleness, name_of_holder(who) +
                                        " was renewed although its deadline had passed at " +
                                        seconds(held.deadline));
        }
        held.deadline = deadline;
    }
}

// Two intervals overlap exactly if one begins inside the other. Those of readers may.
void checkers::check_exclusion(holder_id who, instant at, instant deadline) {
    std::erase_if(leases_, [&](const lease& held) { return held.deadline <= world_.now(); });
    if (!exclusion_promised_ || deadline <= at) return;
    if (world_.settings().kind.permits > 0) check_permits(who, at);
    for (const auto& held : leases_) {
        if (held.who == who || held.deadline <= at) continue;
        if ((holders_[held.who].what & holders_[who].what) == 0) {
            ++held_together_;
            continue;
        }
        if (holders_[who].reads && holders_[held.who].reads) {
            ++read_together_;
            continue;
        }
        report(rule::exclusion, name_of_holder(who) + " holds from " + seconds(at) + " while " +
                                    name_of_holder(held.who) + " may believe to hold until " +
                                    seconds(held.deadline));
    }
}

void checkers::check_permits(holder_id who, instant at) {
    const auto others = std::ranges::count_if(
        leases_, [&](const lease& held) { return held.who != who && held.deadline > at; });
    const auto permits = world_.settings().kind.permits;
    if (others < std::int64_t{permits}) return;
    report(rule::permits, name_of_holder(who) + " has a permit from " + seconds(at) +
                              " on, while " + std::to_string(others) +
                              " others may believe to have one, of " + std::to_string(permits));
}

void checkers::release_called(holder_id who) {
    const bool leads = std::ranges::any_of(leases_, [&](const lease& held) {
        return held.who == who && held.deadline > world_.now();
    });
    if (leads && world_.settings().kind.which == other_kind::election) {
        leaders_.resigns(owners_[holders_[who].owner].name);
    }
    std::erase_if(leases_, [&](const lease& held) { return held.who == who; });
}

void checkers::released(holder_id who) {
    if (world_.settings().of_other_kind()) return;
    const auto& record = owners_[holders_[who].owner];
    if (record.released_at.size() >= core::majority(world_.settings().nodes)) return;
    report(rule::ownership,
           name_of_holder(who) + " was told that it released, but no majority deleted its key");
}

void checkers::lost(holder_id who, instant at, bool announced_in_time, bool by_choice) {
    if (!announced_in_time) {
        report(rule::notice, name_of_holder(who) +
                                 " was not told before its deadline (noticed at " + seconds(at) +
                                 ")");
    }
    if (world_.settings().faults.empty() && !by_choice) {
        report(rule::needless_loss, name_of_holder(who) + " was lost although nothing went wrong");
    }
}

void checkers::over(holder_id who, instant at, instant expired, bool lapses) {
    end_owner(holders_[who].owner, at, expired, lapses);
}

void checkers::end_owner(owner_id which, instant at, instant expired, bool lapses) {
    auto& record = owners_[which];
    if (record.over_at != instant::max()) return;
    record.over_at = at;
    record.expired = expired;
    record.lapses = lapses;
    const auto& settings = world_.settings();
    world_.schedule(at + cleanup_time(settings), event::kind::inspect, which);
    world_.schedule(at + settings.timing.ttl / 2, event::kind::inspect, which);
    // What was refused is repeated after pauses of seconds: it has to be gone when only the end of
    // its ttl is left.
    world_.schedule(expired - settings.timing.ttl / 20, event::kind::inspect, which);
    world_.schedule(at + settings.orphan_bound(), event::kind::inspect, which);
}

void checkers::crashed(std::uint32_t client) {
    std::erase_if(leases_, [&](const lease& held) { return holders_[held.who].client == client; });
    unheld_[client].clear();
    for (auto& each : owners_) {
        if (each.client == client && each.over_at == instant::max()) {
            each.over_at = world_.now();
            each.lapses = each.orphaned = true;
        }
    }
}

void checkers::nobody_asks(std::uint32_t client, instant at) {
    for (const auto each : std::exchange(unheld_[client], {})) {
        end_owner(each, at, owners_[each].departed + world_.settings().timing.ttl, false);
    }
}

owner_id checkers::owner_named(std::string_view text) const {
    const auto found = names_.find(text);
    return found == names_.end() ? 0 : found->second;
}

owner_id checkers::know(std::string_view text, std::uint32_t client, instant departed) {
    if (const auto known = names_.find(text); known != names_.end()) return known->second;
    const auto made = static_cast<owner_id>(owners_.size());
    const auto& name = names_.emplace(text, made).first->first;
    owners_.push_back({.name = name, .client = client, .departed = departed});
    return made;
}

void checkers::found_at(std::uint32_t server, owner_id who, bool link_is_fit) {
    const auto& record = owners_[who];
    if (record.orphaned) return;  // it has its turn like others
    const auto late = world_.now() - record.over_at;
    const bool cleaned_up = link_is_fit && must_be_clean(server, record);
    // A crash may have put it back in line, and then it is granted when its turn comes.
    const bool brought_back =
        world_.settings().nodes == 1 && rolled_back_[server] > record.departed;
    const bool in_time = late < world_.settings().orphan_bound() || brought_back;
    if (!cleaned_up && in_time) return;
    report(rule::orphan, "server " + std::to_string(server) + " still holds the key of " +
                             name_of_owner(who) + ", " + seconds(late) + " after it was over");
}

void checkers::found_in_line(std::uint32_t server, owner_id who, bool link_is_fit) {
    const auto& record = owners_[who];
    // A server that is promoted may have its entry from before, and nobody who has held the lock
    // leaves the line: it is called when its turn comes, and declines.
    const bool inherited =
        world_.settings().grouped() && rolled_back_[server] > record.first_departed;
    const bool hindered = record.over_at <= line_.hindered_until() || inherited;
    if (!link_is_fit || hindered || !must_be_clean(server, record)) return;
    report(rule::orphan, name_of_owner(who) + " still stands in line, " +
                             seconds(world_.now() - record.over_at) + " after it was over");
}

// The release has had time to arrive, a missing script included. It cannot help against a request
// that overtook it on an older connection, or against a crash that brought the key back.
bool checkers::must_be_clean(std::uint32_t server, const owner& record) const {
    if (record.lapses) return false;
    const auto disturbed = network_.disturbed_at(record.client, server);
    const auto since = world_.now() - std::max(disturbed, record.over_at);
    return since >= cleanup_time(world_.settings()) && disturbed < record.expired &&
           rolled_back_[server] <= record.departed &&
           !record.strayed_to.contains(core::node_index{static_cast<std::uint8_t>(server)});
}

void checkers::plain_write(holder_id who, std::uint64_t version) {
    if (version != plain_version_ && exclusion_promised_) {
        report(rule::lost_update,
               name_of_holder(who) + " overwrote version " + std::to_string(plain_version_) +
                   " of the plain register, having read " + std::to_string(version));
    }
    ++plain_version_;
}

void checkers::plain_read(holder_id who, std::uint64_t version) {
    if (version == plain_version_ || !exclusion_promised_) return;
    report(rule::exclusion, name_of_holder(who) + " read version " + std::to_string(version) +
                                " of the plain register, and somebody wrote " +
                                std::to_string(plain_version_) + " meanwhile");
}

void checkers::report(rule broken, std::string what) {
    if (world_.traced()) {
        world_.tracer().line(world_.now(), "CHECKER", "%s: %s", sim::name_of(broken), what.c_str());
    }
    if (!found_) found_ = violation{broken, world_.now(), std::move(what)};
}

std::string checkers::name_of_holder(holder_id who) const {
    const auto& record = holders_[who];
    return "client " + std::to_string(record.client) + "." + std::to_string(record.caller) + " (h" +
           std::to_string(who) + ", o" + std::to_string(record.owner) + ")";
}

std::string checkers::name_of_owner(owner_id who) const {
    return "o" + std::to_string(who) + " of client " + std::to_string(owners_[who].client);
}

std::string checkers::name_of_text(const std::string* text) const {
    if (text == nullptr) return "nobody";
    const auto known = owner_named(*text);
    return known != 0 ? "o" + std::to_string(known) : *text;
}

}  // namespace holdfast::sim
