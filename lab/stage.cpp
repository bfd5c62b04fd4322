#include "lab/stage.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "holdfast/operate.hpp"

namespace holdfast::lab {
namespace {

using clock_type = std::chrono::steady_clock;
constexpr milliseconds between_attempts{50};
constexpr milliseconds patience{20'000};

}  // namespace

stage::stage(const scheme_entry& scheme, const props& wanted, journal& story, std::stop_token stop)
    : scheme_(scheme), story_(story), stop_(std::move(stop)) {
    if (wanted.server_clock) server_clock_ = std::make_unique<test::shifted_clock>();
    if (scheme.watched) group_.emplace(test::sentinel_group_options{.master_name = master_name});
    for (std::size_t node = 0; node < scheme.nodes && !scheme.watched; ++node) {
        test::redis_options options;
        if (server_clock_ && node == scheme.nodes / 2) {
            options.environment = server_clock_->environment();
        }
        servers_.emplace_back(options);
    }
    if (scheme.vouch) vouch();
}

/// As an operator does once for new servers: `holdfast enlist --fresh`.
void stage::vouch() {
    options settings;
    for (const auto& server : servers_) settings.urls.push_back(server.url());
    if (group_) settings.urls = {group_->url()};
    settings.restart_guard = true;
    settings.max_ttl = max_ttl;
    client operators(settings);
    (void)enlist(operators, true);
}

std::string stage::name_of(std::size_t node) const {
    return std::string(1, static_cast<char>('A' + node));
}

actor& stage::enter(const test::environment_variables& environment) {
    const actor::cast role{"client " + std::to_string(actors_.size() + 1), scheme_, routes(),
                           environment};
    return actors_.emplace_back(role, key, story_, stop_);
}

std::vector<tap::route> stage::routes() const {
    std::vector<tap::route> all;
    for (std::size_t n = 0; group_ && n < group_->sentinels(); ++n) {
        all.push_back({"Sentinel " + std::to_string(n + 1), group_->sentinel(n).port()});
    }
    for (std::size_t node = 0; node < servers_.size(); ++node) {
        all.push_back({name_of(node), servers_[node].port()});
    }
    return all;
}

void stage::split(actor& first, actor& second) {
    if (nodes() == 1) return;
    for (std::size_t node = 0; node < nodes(); ++node) {
        if (node > weak_node()) first.network().cut_off(node);
        if (node < weak_node()) second.network().cut_off(node);
    }
    say(first.name() + " reaches A, B and C only; " + second.name() + " reaches C, D and E only");
}

outcome stage::must_acquire(actor& who, milliseconds ttl) {
    outcome result = try_for(who, ttl, patience);
    if (!result.held()) throw std::runtime_error(who.name() + " cannot get a free lock");
    return result;
}

outcome stage::try_for(actor& who, milliseconds ttl, milliseconds bound, const std::string& which) {
    const auto give_up = clock_type::now() + bound;
    outcome result = who.acquire(which, ttl);
    if (result.held() || clock_type::now() >= give_up) return result;
    say("... and tries again and again");
    const std::size_t more_of_the_same = story_.size();
    while (!result.held() && clock_type::now() < give_up) {
        pass(between_attempts);
        story_.forget(more_of_the_same, who.name());
        result = who.acquire(which, ttl);
    }
    if (!result.held()) story_.forget(more_of_the_same, who.name());
    return result;
}

void stage::pass(milliseconds time) {
    const auto until = clock_type::now() + time;
    while (clock_type::now() < until) {
        if (stop_.stop_requested()) throw interrupted{};
        std::this_thread::sleep_for(
            std::min<clock_type::duration>(milliseconds(20), until - clock_type::now()));
    }
}

std::string stage::values_stored() {
    std::string all;
    for (const auto& server : servers_) {
        all += (all.empty() ? "" : ", ") + server.get(key).value_or("nothing");
    }
    return all;
}

milliseconds stage::longest_ttl() {
    std::int64_t longest = 0;
    for (const auto& server : servers_) longest = std::max(longest, server.pttl(key));
    return milliseconds(longest);
}

}  // namespace holdfast::lab
