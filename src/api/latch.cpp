#include "holdfast/latch.hpp"

#include <utility>

#include "api/access.hpp"
#include "api/watch.hpp"
#include "holdfast/detail/async.hpp"
#include "holdfast/duration.hpp"
#include "kinds/latch.hpp"
#include "resp/encoder.hpp"
#include "runtime/operations/failures.hpp"

namespace holdfast {
namespace detail {

/// What a latch object knows: never changed.
class latch_state {
  public:
    latch_state(client& through, std::string name, std::size_t count, latch_options how);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] const shared_client& through() const { return *shared_; }
    [[nodiscard]] const std::string& key() const { return key_; }

    /// `set_by`: where it is not there; empty: it is not set.
    [[nodiscard]] kinds::latch_claim claim(std::string_view set_by) const {
        return {.name = key_, .count = count_, .ttl = ttl_, .set_by = set_by};
    }
    /// One that nobody else has.
    [[nodiscard]] std::string make_id() const HOLDFAST_UNLOCKED {
        constexpr std::size_t digits = 32;
        std::string id(digits, '0');
        through().check_process();
        auto& engine = *shared_->engine();
        const auto lock = engine.lock();
        engine.chance_source().hex(id.data(), digits);
        return id;
    }
    [[nodiscard]] net::failure of_another_count(std::uint64_t other) const {
        return {.code = errc::invalid_option,
                .message = "the latch '" + name_ + "' was set with a count of " +
                           std::to_string(other) + ", not of " + std::to_string(count_),
                .hopeless = true};
    }
    [[nodiscard]] net::failure gone() const {
        return {.code = errc::lost,
                .message = "the latch '" + name_ + "' is gone, and was not open",
                .hopeless = true};
    }

  private:
    std::shared_ptr<shared_client> shared_;
    std::string name_;
    std::string key_;  // with the client's prefix
    std::size_t count_;
    core::duration ttl_;
};

namespace {

using latch_pointer = std::shared_ptr<const latch_state>;

void check(const client& through, std::size_t count, latch_options how) {
    const auto require = [](bool right, const std::string& why) {
        if (!right) runtime::refuse(errc::invalid_option, why);
    };
    require(through.settings().urls.size() == 1,
            "a latch cannot be kept by several servers that vote, which may each have heard of "
            "others who counted down; give one");
    require(count > 0 && count <= max_latch_count,
            "the count of a latch lies between 1 and " + std::to_string(max_latch_count));
    require(how.ttl >= std::chrono::milliseconds(1) && how.ttl <= longest_time,
            "a latch lives for 1ms to " + format_duration(longest_time));
}

/// Satisfied when it is open.
class latch_look final : public runtime::watched {
  public:
    /// `set_by`: as of latch_state::claim().
    latch_look(latch_pointer of, std::string set_by)
        : of_(std::move(of)), set_by_(std::move(set_by)), beside_(kinds::latch_key(of_->key())) {}

    [[nodiscard]] const std::string& lock() const override { return of_->key(); }
    [[nodiscard]] const std::string& key() const override { return beside_; }
    [[nodiscard]] std::size_t questions() const override { return 2; }

    // By PTTL first, as those listen who wait for a lock.
    void ask(std::size_t question, bool, std::string& out) const override {
        if (question == 0) return resp::append_command(out, {"PTTL", beside_});
        kinds::look_at_latch(out, of_->claim(seen_.empty() ? set_by_ : std::string_view{}));
    }

    finding judge(runtime::engine& through, const runtime::electorate& of,
                  const answers& all) override HOLDFAST_LOCKED {
        if (const auto* why = std::get_if<net::failure>(&all[1])) {
            return {.failed = through.named(of.node_of({0}), *why)};
        }
        const auto said = kinds::read_latch(resp::view(std::get<std::string>(all[1])));
        if (const auto* found = std::get_if<kinds::latch_found>(&said)) return see(*found);
        if (const auto* other = std::get_if<kinds::latch_of_another_count>(&said)) {
            return {.failed = seen_.empty() ? of_->of_another_count(other->count) : of_->gone()};
        }
        if (const auto* why = std::get_if<net::failure>(&said)) {
            return {.failed = through.named(of.node_of({0}), *why)};
        }
        if (!seen_.empty()) return {.failed = of_->gone()};
        return {};
    }

  private:
    // One that was set by another than before is another, whose time has just begun. Who has set it
    // has written what it wants to be told of, of which servers tell others: it has to ask again.
    finding see(const kinds::latch_found& found) {
        const bool just_set = seen_.empty() && found.set_by == set_by_;
        if (seen_.empty()) seen_ = found.set_by;
        if (seen_ != found.set_by) return {.failed = of_->gone()};
        return {.satisfied = found.left == 0,
                .changes_in = just_set ? core::duration{0} : found.remaining};
    }

    latch_pointer of_;
    std::string set_by_;
    std::string beside_;
    std::string seen_;  // by whom it was set when it was first seen
};

/// Satisfied when it was counted down for somebody.
class latch_count final : public runtime::watched {
  public:
    latch_count(latch_pointer of, std::string set_by, std::string who)
        : of_(std::move(of)),
          set_by_(std::move(set_by)),
          who_(std::move(who)),
          beside_(kinds::latch_key(of_->key())) {}

    // Not the latch itself, of which it tells others: it need not look again.
    [[nodiscard]] const std::string& lock() const override { return beside_; }
    [[nodiscard]] const std::string& key() const override { return beside_; }
    [[nodiscard]] std::size_t questions() const override { return 1; }
    [[nodiscard]] bool writes() const override { return true; }
    void ask(std::size_t, bool, std::string& out) const override {
        kinds::count_down(out, of_->claim(set_by_), who_);
    }

    finding judge(runtime::engine& through, const runtime::electorate& of,
                  const answers& all) override HOLDFAST_LOCKED {
        if (const auto* why = std::get_if<net::failure>(&all[0])) {
            return {.failed = through.named(of.node_of({0}), *why)};
        }
        const auto said = kinds::read_latch(resp::view(std::get<std::string>(all[0])));
        if (const auto* other = std::get_if<kinds::latch_of_another_count>(&said)) {
            return {.failed = of_->of_another_count(other->count)};
        }
        if (const auto* why = std::get_if<net::failure>(&said)) {
            return {.failed = through.named(of.node_of({0}), *why)};
        }
        through.changed_here(of_->key());
        return {.satisfied = true};
    }

  private:
    latch_pointer of_;
    std::string set_by_;
    std::string who_;
    std::string beside_;
};

std::shared_ptr<latch_count> counting(const latch_pointer& of, std::string who) {
    if (who.empty() || who.size() > max_participant_bytes) {
        runtime::refuse(errc::invalid_option, "a participant is named by 1 to " +
                                                  std::to_string(max_participant_bytes) + " bytes");
    }
    return std::make_shared<latch_count>(of, of->make_id(), std::move(who));
}

runtime::watching::request waiting(const latch_pointer& of, clock::time_point when) {
    auto request = look_until(nullptr, when);
    request.what = std::make_shared<latch_look>(of, request.waits ? of->make_id() : std::string());
    return request;
}

}  // namespace

latch_state::latch_state(client& through, std::string name, std::size_t count, latch_options how)
    : shared_(access::shared(through)), name_(std::move(name)), count_(count), ttl_(how.ttl) {
    key_ = runtime::make_plan(through.settings(), name_)->keys.lock;
    check(through, count, how);
}

std::shared_ptr<pending> start_count_down(latch& which, renew_done done) {
    const auto& of = access::state_of(which);
    return start_watch(
        of->through(), {.what = counting(of, of->make_id())},
        [done = std::move(done)](std::exception_ptr why, bool) { done(std::move(why)); });
}

std::shared_ptr<pending> start_wait(const latch& which, clock::time_point give_up_at,
                                    wait_done done) {
    const auto& of = access::state_of(which);
    return start_watch(of->through(), waiting(of, give_up_at), std::move(done));
}

}  // namespace detail

latch::latch(client& through, std::string name, std::size_t count, latch_options how)
    : state_(std::make_shared<detail::latch_state>(through, std::move(name), count, how)) {}
latch::~latch() = default;
latch::latch(latch&&) noexcept = default;
latch& latch::operator=(latch&&) noexcept = default;

const std::string& latch::name() const noexcept { return state_->name(); }
std::size_t latch::count() const noexcept { return state_->count(); }

void latch::count_down() { count_down(state_->make_id()); }

void latch::count_down(std::error_code& error) {
    detail::catching(error, [this] { count_down(); });
}

void latch::count_down(std::string_view participant) {
    (void)detail::watch(state_->through(),
                        {.what = detail::counting(state_, std::string(participant))}, {});
}

void latch::count_down(std::string_view participant, std::error_code& error) {
    detail::catching(error, [&] { count_down(participant); });
}

bool latch::try_wait() const { return wait_until(clock::time_point::min(), {}); }

bool latch::try_wait(std::error_code& error) const {
    return detail::catching(error, [this] { return try_wait(); });
}

bool latch::wait_until(clock::time_point when, std::stop_token stop) const {
    return detail::watch(state_->through(), detail::waiting(state_, when), std::move(stop));
}

bool latch::wait_until(clock::time_point when, std::stop_token stop, std::error_code& error) const {
    return detail::catching(error, [&] { return wait_until(when, std::move(stop)); });
}

}  // namespace holdfast
