#include "storm/scene.hpp"

#include <csignal>
#include <stdexcept>

#include "holdfast/operate.hpp"
#include "storm/observer.hpp"
#include "storm/visitor.hpp"

namespace holdfast::storm {
namespace {

/// With a log of all writes that reaches the disk once a second: a server that is killed comes back
/// with its data, and is not trusted to have all of them.
const std::vector<std::string> logged{"appendonly yes", "appendfsync everysec",
                                      "auto-aof-rewrite-percentage 0"};

test::redis_options options_with(const test::shifted_clock& clock) {
    return {.configuration = logged, .environment = clock.environment()};
}

constexpr std::size_t sentinels = 3;

bool says(const std::string& info, const std::string& line) {
    return info.find(line + "\r\n") != std::string::npos;
}

}  // namespace

scene::scene(const scene_settings& settings) : settings_(settings) {
    if (settings.clustered) {
        cluster_.emplace(
            test::redis_cluster_options{.configuration = logged, .replicas = 2, .separable = true});
    } else if (settings.replicated) {
        start_group();
    } else {
        start_servers(settings.servers);
    }
    vouch();
    for (std::size_t n = 0; n < settings.workers; ++n) {
        const worker_orders orders = orders_for(n);
        workers_.push_back({orders, start(orders)});
    }
}

void scene::start_servers(std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) {
        clocks_.emplace_back();
        servers_.emplace_back(options_with(clocks_.back()));
        proxies_.emplace_back(servers_.back().port());
    }
}

void scene::start_group() {
    test::sentinel_group_options how;
    how.sentinels = sentinels;
    how.servers.configuration = logged;
    group_.emplace(how);
    for (std::size_t n = 0; n < sentinels; ++n)
        to_sentinels_.emplace_back(group_->sentinel(n).port());
}

std::string scene::group_url(bool may_be_cut_off) const {
    std::string url = group_->url();
    if (may_be_cut_off) {
        url = "redis+sentinel://";
        for (const auto& each : to_sentinels_) {
            url += (&each == &to_sentinels_.front() ? "127.0.0.1:" : ",127.0.0.1:") +
                   std::to_string(each.port());
        }
        url += "/" + group_->master_name();
    }
    return with_acks(url);
}

std::string scene::cluster_url(bool may_be_cut_off) const {
    return with_acks(may_be_cut_off ? cluster_->url_of_other_side() : cluster_->url());
}

std::string scene::with_acks(const std::string& url) const {
    return settings_.replica_acks.empty() ? url : url + "?replica_acks=" + settings_.replica_acks;
}

void scene::keep_news_from_some(bool on) {
    for (auto& each : to_sentinels_) {
        if (on) {
            each.silence();
        } else {
            each.heal();
        }
    }
}

std::vector<std::string> scene::urls() const {
    if (cluster_) return {cluster_url(false)};
    if (group_) return {group_url(false)};
    std::vector<std::string> all;
    for (const auto& each : proxies_) all.push_back(each.url());
    return all;
}

bool scene::settled() {
    if (cluster_) return cluster_->settled();
    const std::size_t master = group_->named_by(0);
    for (std::size_t n = 1; n < sentinels; ++n) {
        if (group_->named_by(n) != master) return false;
    }
    const std::string info = server(master).command({"INFO", "replication"});
    const std::size_t replicas = servers() - 1;
    for (std::size_t n = 0; n < replicas; ++n) {
        if (info.find("slave" + std::to_string(n) + ":") == std::string::npos) return false;
    }
    return says(info, "role:master") && info.find("state=wait_bgsave") == std::string::npos &&
           info.find("state=send_bulk") == std::string::npos;
}

/// As an operator does once for new servers: `holdfast enlist --fresh`.
void scene::vouch() {
    client operators(settings_for(urls()));
    (void)enlist(operators, true);
}

worker_orders scene::orders_for(std::size_t n) const {
    worker_orders orders{.name = "w" + std::to_string(n + 1),
                         .seed = settings_.seed * 100 + n,
                         .directory = settings_.directory,
                         .register_port = registers_.port()};
    orders.urls = urls();
    if (group_) orders.urls = {group_url(n % 2 == 1)};
    if (cluster_) orders.urls = {cluster_url(n % 2 == 1)};
    return orders;
}

test::process scene::start(const worker_orders& orders) const {
    test::process_options child;
    child.arguments = {settings_.program,
                       "--worker",
                       orders.name,
                       std::to_string(orders.generation),
                       std::to_string(orders.seed),
                       orders.directory.native(),
                       std::to_string(orders.register_port)};
    child.arguments.insert(child.arguments.end(), orders.urls.begin(), orders.urls.end());
    child.input = test::redirect::pipe();
    child.output = test::redirect::file(orders.directory / (orders.name + ".log"));
    child.error = child.output;
    return test::process(child);
}

void scene::replace_worker(std::size_t n) {
    employee& place = workers_[n];
    ++place.orders.generation;
    place.child = start(place.orders);
}

std::optional<std::size_t> scene::worker_called(const std::string& name) const {
    for (std::size_t n = 0; n < workers_.size(); ++n) {
        if (name_of_worker(n) == name) return n;
    }
    return std::nullopt;
}

std::optional<std::size_t> scene::first_in_line(std::string_view key) const {
    const test::reply head = servers_.front().query({"LINDEX", line_of(key), "0"});
    if (head.is_nil() || head.is_error()) return std::nullopt;
    return worker_called(waiter_of(head.text).worker);
}

void scene::rush(bool on) {
    if (on) {
        registers_.command({"SET", rush_key, "1"});
    } else {
        registers_.command({"DEL", rush_key});
    }
}

std::vector<std::string> scene::keys_left() const {
    std::vector<std::string> left;
    for (const auto key : keys) {
        for (const std::string& each : {std::string(key), line_of(key)}) {
            if (servers_.front().exists(each)) left.push_back(each);
        }
    }
    return left;
}

void scene::inspect() {
    for (employee& each : workers_) {
        const auto ended = each.child.wait_for(std::chrono::milliseconds(0));
        if (!ended || ended->signal == SIGKILL) continue;
        throw std::runtime_error(each.orders.name + " has ended by itself: " + to_string(*ended) +
                                 "; see " + (each.orders.directory / each.orders.name).native() +
                                 ".log");
    }
}

void scene::dismiss() {
    for (employee& each : workers_) each.child.close_input();
    for (employee& each : workers_) {
        if (!each.child.wait_for(std::chrono::seconds(20))) {
            throw std::runtime_error(each.orders.name + " does not end");
        }
    }
}

}  // namespace holdfast::storm
