#include "sim/world/simulation.hpp"

#include <algorithm>
#include <utility>

#include "kinds/calls.hpp"

namespace holdfast::sim {
namespace {

constexpr std::uint64_t most_events = 500'000;  // a busy run has a tenth of it

std::int64_t draw_rate(random& chance, std::int64_t most) {
    if (most == 0) return 0;
    return chance.coin() ? (chance.coin() ? most : -most) : chance.between(-most, most);
}

}  // namespace

simulation::simulation(const plan& settings, script_library& scripts, bool traced)
    : settings_(settings),
      world_(settings_, traced),
      network_(world_),
      checkers_(world_, network_, *this),
      register_(world_, checkers_) {
    network_.listen(this);
    build(scripts);
    plan_incidents();
}

void simulation::build(script_library& scripts) {
    auto chance = random(settings_.seed).split(3);
    for (std::uint32_t i = 0; i < settings_.servers(); ++i) {
        const auto skew = chance.between(-settings_.wall_skew, settings_.wall_skew);
        const wall_clock clock{skew, draw_rate(chance, settings_.rate_ppm)};
        hosts_.push_back(std::make_unique<host>(world_, network_, scripts, checkers_, i, clock));
        if (settings_.restart_guard && !settings_.grouped()) hosts_.back()->vouch();
    }
    if (settings_.grouped()) {
        group_ = std::make_unique<group>(world_, network_, checkers_, hosts_);
        group_->begin();
    }
    if (settings_.has(fault::slow_node)) {
        network_.slow_down(static_cast<std::uint32_t>(chance.below(settings_.servers())),
                           chance.between(core::duration{0}, settings_.node_timeout));
    }
    for (std::uint32_t i = 0; i < settings_.clients; ++i) {
        const auto offset = chance.between(core::duration{0}, core::duration{1'000'000'000'000});
        const machine_clock clock{offset, draw_rate(chance, settings_.rate_ppm)};
        clients_.push_back(
            std::make_unique<client>(world_, network_, checkers_, register_, i, clock));
    }
}

void simulation::plan_incidents() {
    for (const auto what : kinds_of_incidents()) {
        if (!settings_.has(what)) continue;
        auto chance = random(settings_.seed).split(200 + static_cast<unsigned>(what));
        const bool by_hand = what == fault::key_deleted;
        const bool of_mortals = what == fault::client_crash;
        const auto often = by_hand      ? settings_.deletions
                           : of_mortals ? static_cast<unsigned>(settings_.mortals)
                                        : settings_.events_per_fault;
        for (unsigned i = 0; i < often; ++i) {
            incidents_.push_back(draw_incident(what, settings_, chance));
            if (of_mortals) {
                incidents_.back().client = static_cast<std::uint32_t>(settings_.first_mortal() + i);
            }
            const auto index = static_cast<std::uint32_t>(incidents_.size() - 1);
            world_.schedule(incidents_.back().at, event::kind::fault_begins, index);
        }
    }
}

outcome simulation::run() {
    world_.schedule(settings_.length, event::kind::heal, 0);
    if (settings_.alone()) world_.schedule(line_pace::every, event::kind::line_looked_at, 0);
    for (auto& each : clients_) each->start();
    while (!done_ && !world_.idle() && !checkers_.found()) {
        dispatch(world_.next());
        if (world_.count() > most_events) {
            checkers_.report(rule::recovery,
                             "nobody comes to rest: more events than a run can have");
        }
    }
    return {.found = checkers_.found(),
            .trace = world_.tracer().text(),
            .simulated = done_ ? ended_at_ : world_.now(),
            .events = world_.count(),
            .attempts = checkers_.attempts(),
            .acquired = checkers_.acquired(),
            .handed_off = checkers_.handed_off(),
            .read_together = checkers_.read_together(),
            .downgrades = checkers_.downgrades(),
            .held_together = checkers_.held_together(),
            .tidings = checkers_.leaders().tidings(),
            .latches_passed = checkers_.latches().passed(),
            .fail_overs = group_ ? group_->fail_overs() : 0};
}

void simulation::dispatch(const event& e) {
    switch (e.what) {
        case event::kind::connect_arrives:
        case event::kind::bytes_go_up:
        case event::kind::close_arrives:
        case event::kind::server_cycle:
        case event::kind::wait_ends: return at_server(e);
        case event::kind::group_acts: return group_->acts(e);
        case event::kind::connected:
        case event::kind::bytes_come_down:
        case event::kind::break_heard:
        case event::kind::writable:
        case event::kind::client_looks:
        case event::kind::callbacks:
        case event::kind::caller_acts: return at_client(e);
        case event::kind::fault_begins:
            if (group_) aim(incidents_[e.subject]);
            return begin(incidents_[e.subject]);
        case event::kind::fault_ends: return end(incidents_[e.subject]);
        case event::kind::register_read: return register_.read(e.subject);
        case event::kind::register_write: return register_.write(e.subject);
        case event::kind::inspect: return inspect(e.subject);
        case event::kind::line_looked_at: return look_at_line();
        case event::kind::heal: return heal();
        case event::kind::give_up: return give_up();
        case event::kind::close: return close();
    }
}

// A server that stands still finds everything waiting for it when it goes on.
void simulation::at_server(const event& e) {
    const bool by_stream = e.what != event::kind::server_cycle && e.what != event::kind::wait_ends;
    const auto machine = by_stream ? network_.at(e.subject).server() : e.subject;
    if (machine >= hosts_.size()) return at_sentinel(e, group_->at(machine));
    auto& at = *hosts_[machine];
    if (at.stands_still()) return world_.schedule(at.still_until(), e.what, e.subject);
    switch (e.what) {
        case event::kind::connect_arrives: return at.connect_arrives(network_.at(e.subject));
        case event::kind::bytes_go_up: return at.bytes_arrive(network_.at(e.subject));
        case event::kind::close_arrives: return at.close_arrives(network_.at(e.subject));
        case event::kind::wait_ends: return at.wait_ends();
        default: return at.cycle();
    }
}

void simulation::at_sentinel(const event& e, sentinel_host& at) {
    auto& by = network_.at(e.subject);
    switch (e.what) {
        case event::kind::connect_arrives: return at.connect_arrives(by);
        case event::kind::bytes_go_up: return at.bytes_arrive(by);
        default: return at.close_arrives(by);
    }
}

bool simulation::concerns_client(event::kind what) const {
    return what == event::kind::client_looks || what == event::kind::callbacks ||
           what == event::kind::caller_acts;
}

// So does a process.
void simulation::at_client(const event& e) {
    auto& at = *clients_[concerns_client(e.what) ? e.subject : network_.at(e.subject).of().index()];
    if (at.crashed()) return;
    if (at.self().paused()) {
        return world_.schedule(at.self().paused_until(), e.what, e.subject, e.slot, e.generation);
    }
    switch (e.what) {
        case event::kind::connected: at.connected(network_.at(e.subject), e.slot != 0); break;
        case event::kind::bytes_come_down: at.bytes_arrive(network_.at(e.subject)); break;
        case event::kind::break_heard: at.break_heard(network_.at(e.subject)); break;
        case event::kind::writable: at.writable(network_.at(e.subject)); break;
        case event::kind::client_looks: at.looks(e.generation); break;
        case event::kind::callbacks: at.callbacks(); break;
        default: at.caller_acts(e.slot, e.generation); break;
    }
    make_use_of_reads(at.self());
    if (world_.healed()) look_whether_done();
}

void simulation::was_read(const stream& which) {
    reads_.push_back({which.id(), which.read_so_far()});
}

// A client knows what a clock shows once its judge has compared it with its own clock, not when the
// bytes are read: if it stands still between the two, all that it has measured is that the answer
// took so long, and a jump may hide in that (core/clock_watch.hpp). Whatever was read in an event
// has reached the judge by its end, and by then it is known whether there was a pause.
void simulation::make_use_of_reads(const process& reader) {
    const auto slack = settings_.timing.ttl * 3;
    for (const auto& [from, bytes] : reads_) {
        checkers_.clocks().was_read(from, bytes, reader.now(), [&](instant asked, instant told) {
            return reader.paused_between(asked - slack, told);
        });
    }
    reads_.clear();
}

// A reader that wrote before has what it held as a writer, where servers do not know better yet.
std::size_t simulation::backing(std::string_view owner, places what, instant until) const {
    if (group_) return group_->backing(owner, until);
    if (settings_.of_other_kind()) {
        return static_cast<std::size_t>(std::ranges::count_if(
            hosts_, [&](const auto& each) { return each->holds_for(owner, what, until); }));
    }
    const auto wrote_as = reads(owner) ? writer_of(owner) : std::string();
    return static_cast<std::size_t>(std::ranges::count_if(hosts_, [&](const auto& each) {
        return each->holds_for(owner, until) ||
               (!wrote_as.empty() && each->holds_for(wrote_as, until));
    }));
}

std::size_t simulation::noting_others(const leader_watch::leading& who) const {
    return static_cast<std::size_t>(std::ranges::count_if(hosts_, [&](const auto& each) {
        return each->holds_for(who.owner, places{1}, world_.now()) && !each->notes(who);
    }));
}

void simulation::inspect(owner_id who) {
    auto& of = *clients_[checkers_.client_of(who)];
    for (std::uint32_t i = 0; i < hosts_.size(); ++i) {
        const bool holds = hosts_[i]->holds(checkers_.name_of(who));
        const bool waits = hosts_[i]->has_in_line(checkers_.name_of(who));
        if (!holds && !waits) continue;
        const bool copies = group_ && group_->is_replica(i);
        const bool fit = !copies && of.in_order(i) &&
                         !of.self().paused_between(checkers_.over_since(who), world_.now());
        if (holds) checkers_.found_at(i, who, fit);
        if (waits) checkers_.found_in_line(i, who, fit);
    }
}

// Who is over, or has crashed, is not expected to do anything.
line_pace::sight simulation::sight() {
    const auto client_of = [this](std::string_view owner) -> client* {
        const auto who = checkers_.owner_named(owner);
        const bool wanted = who != 0 && checkers_.is_wanted(who);
        return wanted ? clients_[checkers_.client_of(who)].get() : nullptr;
    };
    auto& at = *hosts_.front();
    return {.lock = at.lock(),
            .queue = at.queue(),
            .able_since =
                [client_of](std::string_view owner) {
                    auto* const whose = client_of(owner);
                    return whose != nullptr ? whose->able_since(0) : instant::max();
                },
            .is_told =
                [this, client_of](std::string_view owner) {
                    auto* const whose = client_of(owner);
                    return whose != nullptr && settings_.tracked(whose->self().index()) &&
                           !world_.faulty(fault::deaf_tracking);
                },
            .holds = [&at](std::string_view owner) { return at.holds(owner); }};
}

void simulation::look_at_line() {
    world_.schedule(world_.now() + line_pace::every, event::kind::line_looked_at, 0);
    auto& at = *hosts_.front();
    if (!at.up() || at.stands_still()) return checkers_.pace().forget();
    checkers_.pace().look(sight(), checkers_);
}

void simulation::heal() {
    if (world_.traced()) world_.tracer().line(world_.now(), "healed", "no more faults");
    world_.heal();
    network_.mend();
    for (auto& each : hosts_) each->heal();
    if (group_) group_->heal();
    for (auto& each : clients_) each->healed();
    // Everybody in line who is gone, and cannot be called, is granted the lock all the same.
    const auto in_line = static_cast<std::int64_t>(
        settings_.of_other_kind() ? hosts_.front()->in_line() : hosts_.front()->queue().size());
    world_.schedule(world_.now() + settings_.recovery_bound() + kinds::granted_for * in_line,
                    event::kind::give_up, 0);
}

bool simulation::satisfied() const {
    return std::ranges::all_of(clients_, [](const auto& each) { return each->satisfied(); });
}

// What is left at the servers has so much time to go. Mostly nothing is: then the rest of the story
// would be heartbeats.
void simulation::look_whether_done() {
    if (!satisfied()) return;
    if (!std::exchange(closing_, true)) {
        const bool elects = settings_.kind.which == other_kind::election;
        const auto until_told = elects ? observer::told_within : core::duration{0};
        world_.schedule(world_.now() + settings_.orphan_bound() + until_told, event::kind::close,
                        0);
    }
    if (nothing_left()) end_story();
}

bool simulation::nothing_left() {
    return std::ranges::all_of(clients_, [](const auto& each) { return each->at_rest(); }) &&
           std::ranges::none_of(hosts_, [](const auto& each) { return each->has_lock(); }) &&
           std::ranges::none_of(hosts_, [](const auto& each) { return each->has_queue(); }) &&
           std::ranges::none_of(hosts_, [](const auto& each) { return each->has_readers(); }) &&
           std::ranges::all_of(hosts_, [](const auto& each) { return each->is_deserted(); }) &&
           network_.nothing_goes_up();
}

void simulation::give_up() {
    for (const auto& each : clients_) {
        if (each->satisfied()) continue;
        checkers_.report(rule::recovery,
                         "client " + std::to_string(each->self().index()) +
                             " has not had the lock although nothing is wrong any more");
    }
}

// Whoever has read the register writes to it yet, whatever has become of its lock.
void simulation::end_story() {
    if (std::exchange(done_, true)) return;
    ended_at_ = world_.now();
    while (!world_.idle() && !checkers_.found()) {
        const auto e = world_.next();
        const bool of_register =
            e.what == event::kind::register_read || e.what == event::kind::register_write;
        if (of_register) dispatch(e);
    }
}

// Everybody is content: what is left at the servers now would stay there.
void simulation::close() {
    for (const auto& each : clients_) {
        if (each->crashed() || each->sees_nobody_lead()) continue;
        checkers_.report(rule::leader, "client " + std::to_string(each->self().index()) +
                                           " was not told that nobody leads any more");
    }
    for (auto& each : hosts_) {
        for (const auto who : each->owners()) {
            if (checkers_.over_since(who) < world_.now()) inspect(who);
        }
        if (!each->is_deserted())
            checkers_.report(rule::orphan,
                             "somebody who is gone holds something, or stands in line");
        if (each->has_readers()) checkers_.report(rule::orphan, "somebody is left among readers");
        if (each->has_queue())
            checkers_.report(rule::orphan, "somebody who is gone stands in line");
    }
    end_story();
}

}  // namespace holdfast::sim
