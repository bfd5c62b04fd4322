// Who is promoted, who hears of it and when: the other half of `sim/world/group.hpp`.

#include <algorithm>
#include <utility>

#include "sim/world/group.hpp"

namespace holdfast::sim {
namespace {

using std::chrono::milliseconds;

}  // namespace

// By the Sentinels.
bool group::reached(std::uint32_t server) const {
    const auto& at = *hosts_[server];
    return at.up() && !at.stands_still() && unheard_until_[server] <= world_.now();
}

void group::suspect(std::uint32_t server) {
    if (server != master_ || world_.healed()) return;
    const auto after = settings().group.down_after;
    plan_step(after + chance_.between(core::duration{0}, after / 2), is_suspected, server,
              static_cast<std::uint32_t>(masters_.size() - 1));
}

// Sentinels choose the replica that is furthest. What is promised does not rest on that. Some are
// soon followed by another one, which brings the old master back.
void group::fail_over(std::uint32_t variety) {
    if (world_.healed()) return;
    std::vector<std::uint32_t> fit;
    for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
        if (i != master_ && follows_[i] != i && reached(i)) fit.push_back(i);
    }
    if (fit.empty()) return suspect(master_);
    if (chance_.per_mille(300)) plan_step(soon_or_late(), is_brought_back, master_);
    replace_by(fit[variety % fit.size()]);
}

void group::bring_back(std::uint32_t server) {
    const bool may_be = server != master_ && follows_[server] != server && reached(server);
    if (may_be && !world_.healed()) replace_by(server);
}

void group::replace_by(std::uint32_t next) {
    const auto in = std::ranges::find(hasty_, true) == hasty_.end()
                        ? core::duration{0}
                        : chance_.between(core::duration{0}, settings().group.down_after);
    master_ = next;
    masters_.push_back(next);
    announce();
    if (in > core::duration{0}) {
        plan_step(in, is_told, next);
    } else {
        promote(next);
    }
}

void group::promote(std::uint32_t server) {
    if (follows_[server] == server) return;
    say("is promoted", server);
    send_word(server, close_arrives, 0);
    unlink(server);
    follows_[server] = server;
    hosts_[server]->promote();
    checkers_.rolled_back(server);
    for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
        network_.disturb_server(i, world_.now() + longest_pause);
        if (i != server) plan_step(soon_or_late(), is_told, i);
    }
    if (settings().group.sentinels == 0) plan_step(soon_or_late(), address_moves, 0);
}

core::duration group::soon_or_late() {
    const auto slowest = settings().group.slowest_switch;
    return chance_.between(core::duration{0}, chance_.coin() ? slowest / 20 : slowest);
}

// Who is hasty knows before it is true.
void group::announce() {
    const auto epoch = static_cast<std::uint32_t>(masters_.size() - 1);
    for (std::uint32_t i = 0; i < sentinels_.size(); ++i) {
        const bool hasty = hasty_[i];
        hasty_[i] = false;
        plan_step(hasty ? core::duration{0} : soon_or_late(), sentinel_learns, i, epoch);
    }
}

void group::teach(std::uint32_t which, std::uint64_t epoch) {
    auto& whom = *sentinels_[which];
    if (behind_[which] || epoch <= whom.knows().epoch) return;
    whom.learn({.host = name_of(masters_[epoch]), .epoch = epoch});
    if (world_.traced()) {
        world_.tracer().line(world_.now(), "GROUP", "sentinel %u knows epoch %u: server %u", which,
                             static_cast<unsigned>(epoch), masters_[epoch]);
    }
}

// A server that cannot be told is told as soon as it can.
void group::tell(std::uint32_t server) {
    if (follows_[server] == master_) return;
    if (!reached(server)) {
        if (world_.healed() && unheard_until_[server] == instant::max()) return;
        return plan_step(chance_.between(milliseconds(20), milliseconds(300)), is_told, server);
    }
    if (server == master_) return promote(server);
    if (follows_[master_] == master_) follow(server, master_);
}

void group::follow(std::uint32_t server, std::uint32_t master) {
    say("is told to follow the new master", server);
    const bool was_master = follows_[server] == server;
    if (was_master) {
        unlink_all_of(server);
    } else {
        send_word(server, close_arrives, 0);
    }
    follows_[server] = master;
    hosts_[server]->follow(name_of(master));
    network_.disturb_server(server, world_.now() + longest_pause);
    try_again(server);
}

// While an address moves, it leads to either. Whoever is connected by it may stay so.
void group::move_address(bool arrived) {
    if (arrived) return network_.lead_address_to(master_, master_);
    const auto before = network_.address().first;
    network_.lead_address_to(before, master_);
    if (chance_.coin()) network_.break_all_of(before);
    plan_step(soon_or_late(), address_moves, 1);
}

void group::begin(const incident& what) {
    auto& chance = chance_;
    switch (what.what) {
        case fault::failover: return fail_over(what.variety);
        case fault::isolation: return isolate(what);
        case fault::replica_lag: {
            const bool all = what.variety % 2 == 0;
            for (std::uint32_t i = 0; i < links_.size(); ++i) {
                if (!all && i != what.server) continue;
                links_[i].lag = chance.between(core::duration{0}, settings().group.longest_lag);
                links_[i].lags_until = world_.now() + what.lasts;
            }
            return;
        }
        default: return mislead(what, true);
    }
}

void group::end(const incident& what) { mislead(what, false); }

// A server, mostly the master, is cut off from the Sentinels and the other servers: alone, or with
// one that follows it; with some of the clients, or reachable for all of them.
void group::isolate(const incident& what) {
    const auto variety = what.variety;
    const auto whom = variety % 10 < 7 ? master_ : what.server;
    const auto count = static_cast<std::uint32_t>(hosts_.size());
    const bool in_company = variety / 10 % 10 < 3 && count > 2;
    const auto companion = in_company ? (whom + 1 + variety / 100 % (count - 1)) % count : whom;
    const auto until = world_.now() + what.lasts + settings().group.down_after;
    const bool of_all_clients = variety / 1000 % 10 < 5;
    say("is cut off", whom);
    const auto is_inside = [&](std::uint32_t server) {
        return server == whom || server == companion;
    };
    for (std::uint32_t i = 0; i < count; ++i) {
        if (is_inside(i)) continue;
        for (const auto cut_off : {whom, companion}) {
            cut_[i][cut_off] = cut_[cut_off][i] = until;
        }
    }
    unheard_until_[whom] = unheard_until_[companion] = until;
    suspect(whom);
    if (of_all_clients) return;
    for (std::uint32_t c = 0; c < settings().clients; ++c) {
        const bool inside = chance_.coin();
        for (std::uint32_t s = 0; s < count; ++s) {
            if (is_inside(s) != inside) network_.cut(c, s, until, true, true);
        }
        if (inside) cut_off_from_sentinels(c, until);
    }
}

void group::cut_off_from_sentinels(std::uint32_t client, instant until) {
    const auto first = static_cast<std::uint32_t>(hosts_.size());
    for (std::uint32_t s = first; s < first + sentinels_.size(); ++s) {
        network_.cut(client, s, until, true, true);
    }
}

// A Sentinel is down, hears of nothing, or of a promotion before that has happened.
void group::mislead(const incident& what, bool begins) {
    if (sentinels_.empty()) return;
    const auto which = what.variety % sentinels_.size();
    const auto how = what.variety / 8 % 3;
    if (how == 0) {
        begins ? sentinels_[which]->crash() : sentinels_[which]->restart();
    } else if (how == 1) {
        behind_[which] = begins;
        if (!begins) teach(static_cast<std::uint32_t>(which), masters_.size() - 1);
    } else {
        hasty_[which] = begins;
    }
}

// In some seeds one Sentinel never learns, and a master that was cut off never hears of it.
void group::heal() {
    const bool enough_left = settings().replication().acks + 2 <= hosts_.size();
    const bool lasting = settings().group.lasting && sentinels_.size() > 2 && enough_left;
    const bool first_behind = lasting && !behind_.empty() && behind_.front();
    const auto cut_off_for_good = [&](std::uint32_t server) {
        return lasting && server != master_ && unheard_until_[server] > world_.now() &&
               follows_[server] == server;
    };
    std::vector<bool> for_good(hosts_.size());
    for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
        const bool taken = std::ranges::find(for_good, true) != for_good.end();
        for_good[i] = !taken && cut_off_for_good(i);
    }
    for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
        unheard_until_[i] = for_good[i] ? instant::max() : instant{};
        for (std::uint32_t j = 0; j < hosts_.size(); ++j) {
            const bool apart = for_good[i] != for_good[j];
            cut_[i][j] = apart ? instant::max() / 4 : instant{};
        }
        links_[i].lags_until = {};
        for_good[i] ? say("stays cut off", i) : heal(i);
    }
    for (std::uint32_t i = 0; i < sentinels_.size(); ++i) {
        sentinels_[i]->restart();
        behind_[i] = i == 0 && first_behind;
        plan_step(soon_or_late(), sentinel_learns, i,
                  static_cast<std::uint32_t>(masters_.size() - 1));
    }
    if (sentinels_.empty()) plan_step(settings().group.slowest_switch, address_moves, 1);
    granted_before_ = checkers_.acquired();
    plan_step(settings().return_bound(), must_be_granted, 0);
}

void group::heal(std::uint32_t server) {
    plan_step(soon_or_late(), is_told, server);
    const auto& by = links_[server];
    const auto soon = world_.now() + settings().base_delay * 4;
    const bool flows = by.last_down < soon && by.last_up < soon;
    if (follows_[server] == server || (by.attachment != 0 && flows)) return;
    if (by.attachment != 0) send_word(server, close_arrives, 0);
    try_again(server);
}

// Sentinel's own time is over, and so is the quarantine.
void group::check_granted() {
    if (checkers_.acquired() > granted_before_) return;
    checkers_.report(rule::recovery, "nobody was granted the lock again in time after a fail-over");
}

}  // namespace holdfast::sim
