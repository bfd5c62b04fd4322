#include "operate/trial.hpp"

#include "core/judge.hpp"
#include "net/enlisting.hpp"
#include "net/explain.hpp"
#include "resp/view.hpp"
#include "runtime/owner_token.hpp"

namespace holdfast::detail {
namespace {

// Longer than the slowest round trips. What is left if this process dies half-way goes away then.
constexpr std::chrono::seconds trial_ttl{10};

constexpr std::size_t random_digits = 16;

trial_lock failed(const net::failure& why) { return {why.code, why.message}; }

/// What an answer says; the trial goes on where it says that all is well.
class steps {
  public:
    steps(interview& with, const kinds::keys& lock, std::string owner)
        : with_(with), lock_(lock), owner_(std::move(owner)) {}

    // Every connection reads it before it asks for anything.
    trial_lock read_record() HOLDFAST_LOCKED {
        const auto reply = with_.ask({"GET", std::string(core::record_key)});
        if (!reply) return failed(with_.failure());
        const resp::view said(*reply);
        if (!said.is_error()) return {};
        const auto why = net::explain(said);
        return failed(why.code == errc::wrong_type ? net::no_record() : why);
    }

    trial_lock acquire() HOLDFAST_LOCKED {
        const auto reply = with_.ask(
            [this](std::string& out, bool by_text) { kind_.acquire(out, by_text, claim(), {}); });
        if (!reply) return failed(with_.failure());
        const auto answer = kind_.read_acquire(resp::view(*reply));
        if (const auto* why = std::get_if<net::failure>(&answer)) return failed(*why);
        if (std::holds_alternative<kinds::granted>(answer)) return {};
        return {errc::server_error, "it says that somebody holds " + lock_.lock};
    }

    trial_lock extend() HOLDFAST_LOCKED {
        return owned(
            [this](std::string& out, bool by_text) { kind_.extend(out, by_text, claim()); });
    }

    trial_lock release() HOLDFAST_LOCKED {
        return owned(
            [this](std::string& out, bool by_text) { kind_.release(out, by_text, claim()); });
    }

    void clean_up() HOLDFAST_LOCKED {
        (void)release();
        (void)with_.ask({"DEL", kinds::counter_key(lock_.lock)});
    }

  private:
    trial_lock owned(runtime::query::writer write) HOLDFAST_LOCKED {
        const auto reply = with_.ask(std::move(write));
        if (!reply) return failed(with_.failure());
        const auto answer = kind_.read_ownership(resp::view(*reply));
        if (const auto* why = std::get_if<net::failure>(&answer)) return failed(*why);
        if (std::get<kinds::ownership>(answer) == kinds::ownership::ours) return {};
        return {errc::server_error, "it has forgotten " + lock_.lock + " already"};
    }

    [[nodiscard]] kinds::claim claim() const {
        return {.of = lock_, .owner = owner_, .ttl = trial_ttl, .retention = trial_ttl};
    }

    interview& with_;
    const kinds::kind& kind_ = kinds::exclusive();
    const kinds::keys& lock_;
    std::string owner_;
};

}  // namespace

kinds::keys trial_keys(runtime::engine& through) {
    std::string digits(random_digits, '0');
    through.chance_source().hex(digits.data(), digits.size());
    return {.lock = through.settings().prefix + "holdfast:doctor:" + digits,
            .queued = through.node_count() == 1};
}

trial_lock try_lock_at(interview& with, const kinds::keys& lock) {
    steps trial(with, lock, with.engine().make_owner(kinds::exclusive(), "doctor"));
    trial_lock result = trial.read_record();
    for (const auto next : {&steps::acquire, &steps::extend, &steps::release}) {
        if (!result.code) result = (trial.*next)();
    }
    trial.clean_up();
    return result;
}

}  // namespace holdfast::detail
