#include "net/sentinel_resolver.hpp"

#include <algorithm>
#include <utility>

#include "core/tuning.hpp"
#include "net/explain.hpp"

namespace holdfast::net {

using namespace core::tuning::servers;

/// Both questions to one Sentinel.
class sentinel_resolver::question final : public exchange {
  public:
    enum part : tag { address, group };

    question(sentinel_resolver& by, std::uint64_t number) : by_(by), number_(number) {}

  private:
    void encode(tag request, bool, std::string& out) override HOLDFAST_LOCKED {
        if (request == address) return append_ask_address(out, by_.master());
        append_ask_group(out, by_.master());
    }

    [[nodiscard]] bool outlived() const HOLDFAST_LOCKED { return number_ != by_.questions_; }

    void answered(tag request, std::string_view reply) override HOLDFAST_LOCKED {
        if (outlived()) return;
        if (request == address) return by_.on_address(resp::view(reply));
        by_.on_group(resp::view(reply));
    }

    void failed(tag, const failure& why) noexcept override HOLDFAST_LOCKED {
        if (!outlived()) by_.link_->hang_up(why);
    }

    sentinel_resolver& by_;
    std::uint64_t number_;
};

sentinel_resolver::sentinel_resolver(network& through, base::client_mutex& guard, settings how)
    : network_(through),
      guard_(guard),
      settings_(std::move(how)),
      delay_(first_delay, longest_delay) {
    shows_ = network_.prepare(sentinel_at(0));
}

sentinel_resolver::~sentinel_resolver() = default;

endpoint sentinel_resolver::sentinel_at(std::size_t which) const {
    const auto& group = *settings_.of.sentinels;
    return {.host = group.addresses[which].host,
            .port = group.addresses[which].port,
            .tls = settings_.of.tls,
            .tls_options = settings_.of.tls_options,
            .user = group.user,
            .password = group.password};
}

void sentinel_resolver::ask(asker& who) noexcept {
    follower_ = asking_ = &who;
    failed_.clear();
    outdated_.clear();
    tried_ = 1;
    if (!link_) return open();
    if (!link_->ready() || asked_) return;
    try {
        put_question();
    } catch (...) {
        link_->hang_up(current_failure());
    }
}

// With one alone there is nobody else to ask, and its link may bring the news.
void sentinel_resolver::doubt() noexcept {
    if (count() == 1) return;
    drop();
    at_ = (at_ + 1) % count();
}

// Whoever is asked just now may know better as well.
void sentinel_resolver::suspect() noexcept {
    if (closed_ || count() == 1 || !link_ || busy()) return;
    doubt();
    ask_at_ = network_.now();
    follower_->on_change();
}

void sentinel_resolver::close() noexcept {
    closed_ = true;
    asking_ = nullptr;
    drop();
}

void sentinel_resolver::drop() noexcept {
    ++questions_;
    asked_ = false;
    ask_at_ = clock::time_point::max();
    if (!link_) return;
    link_->fail_all(no_answer("nobody listens any more"));
    link_->keep(std::move(retired_));
    retired_ = std::move(link_);
}

void sentinel_resolver::open() noexcept {
    ask_at_ = clock::time_point::max();
    try {
        const connection::settings how{.where = sentinel_at(at_),
                                       .shows = shows_,
                                       .client_name = settings_.client_name,
                                       .policy = {},
                                       .what_for = purpose::look,
                                       .channel = std::string(switch_channel),
                                       .connect_timeout = share(),
                                       .silence_limit = share()};
        link_ = std::make_unique<connection>(
            network_, guard_, how, static_cast<connection::owner&>(*this), network_.now());
    } catch (...) {
        return on_down(current_failure());
    }
    follower_->on_change();
}

void sentinel_resolver::on_ready(const greeting& said) {
    const auto mode = said.mode();
    if (!mode.empty() && mode != "sentinel") {
        return link_->hang_up(
            {errc::unreachable,
             "is no Sentinel but a server; give the addresses of its Sentinels, or its own as "
             "redis://",
             true});
    }
    watches_ = watched_masters(said.info);
    put_question();
}

void sentinel_resolver::put_question() {
    const auto now = network_.now();
    const auto number = questions_ + 1;
    const boost::intrusive_ptr<question> asks(new question(*this, number));
    questions_ = number;
    asked_ = true;
    report_ = {};
    ask_at_ = clock::time_point::max();
    for (const auto part : {question::address, question::group}) {
        if (questions_ == number) link_->send(asks, part, now + share(), now);
    }
    if (questions_ == number) link_->flush();
    follower_->on_change();
}

void sentinel_resolver::on_address(resp::view reply) {
    const auto said = read_master_address(reply);
    if (!said) return link_->hang_up(unknown_master(reply));
    report_.master = *said;
}

failure sentinel_resolver::unknown_master(resp::view reply) const {
    if (reply.is_error()) return explain(reply);
    return {errc::unreachable,
            "knows no master called '" + master() + "'" +
                (watches_.empty() ? "" : " (it watches " + watches_ + ")"),
            true};
}

void sentinel_resolver::on_group(resp::view reply) {
    read_group(reply, report_);
    if (is_outdated(report_)) {
        outdated_.push_back(report_);
        return link_->hang_up({.code = errc::unsafe_server,
                               .message = "names " +
                                          address_text(report_.master.host, report_.master.port) +
                                          ", which was replaced since"});
    }
    asked_ = false;
    delay_.reset();
    found(report_);
}

bool sentinel_resolver::is_outdated(const sentinel_report& report) const {
    return epoch_ && report.epoch && *report.epoch < *epoch_;
}

void sentinel_resolver::found(const sentinel_report& report) {
    if (report.epoch) epoch_ = report.epoch;
    auto where = settings_.of;
    where.sentinels.reset();
    where.host = report.master.host;
    where.port = report.master.port;
    const bool news = where != found_.where || report.members != found_.members;
    found_ = {std::move(where), report.members};
    ask_at_ = network_.now() + ask_sentinel_every;
    auto* const waits = std::exchange(asking_, nullptr);
    if (waits != nullptr) {
        waits->on_found(found_);
    } else if (news) {
        follower_->on_moved(found_);
    }
    follower_->on_change();
}

void sentinel_resolver::on_push(resp::view message) {
    if (!asked_ && tells_of_switch(message, master())) put_question();
}

void sentinel_resolver::on_down(const failure& why) noexcept {
    drop();
    try {
        failed_.push_back({sentinel_at(at_).name(), why});
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): one less in the message
    }
    at_ = (at_ + 1) % count();
    if (!closed_) go_on();
}

// Whoever asked wants to hear of all of them; who only listens has time.
void sentinel_resolver::go_on() noexcept {
    if (asking_ != nullptr && tried_ < count()) {
        ++tried_;
        return open();
    }
    if (asking_ != nullptr) return conclude_round();
    failed_.clear();
    outdated_.clear();
    ask_at_ = network_.now() + delay_.next(follower_->chance());
    follower_->on_change();
}

void sentinel_resolver::conclude_round() noexcept {
    auto* const waits = asking_;
    try {
        if (const auto* const agreed = newest_of_all()) {
            const auto report = *agreed;
            epoch_.reset();
            return found(report);
        }
        const auto why = summary();
        asking_ = nullptr;
        waits->on_not_found(why);
    } catch (...) {
        asking_ = nullptr;
        waits->on_not_found(current_failure());
    }
}

const sentinel_report* sentinel_resolver::newest_of_all() const {
    if (outdated_.size() < count()) return nullptr;
    const auto newest = std::max_element(
        outdated_.begin(), outdated_.end(),
        [](const auto& left, const auto& right) { return left.epoch < right.epoch; });
    return &*newest;
}

failure sentinel_resolver::summary() const {
    failure all{.message = "no Sentinel names the master: ", .hopeless = !failed_.empty()};
    const char* separator = "";
    for (const auto& [name, why] : failed_) {
        const bool first = &name == &failed_.front().name;
        all.code = first || all.code == why.code ? why.code : errc::unreachable;
        all.hopeless = all.hopeless && why.hopeless;
        all.message += separator + name + ": " + why.message;
        separator = ", ";
    }
    return all;
}

void sentinel_resolver::expire(clock::time_point now) noexcept {
    retired_.reset();
    if (closed_) return;
    if (link_) link_->expire(now);
    if (now < ask_at_) return;
    if (!link_) {
        tried_ = 1;
        return open();
    }
    try {
        put_question();
    } catch (...) {
        link_->hang_up(current_failure());
    }
}

clock::time_point sentinel_resolver::wake_at() const {
    return link_ ? std::min(ask_at_, link_->wake_at()) : ask_at_;
}

}  // namespace holdfast::net
