#include "operate/trial.hpp"

#include "core/hash_slot.hpp"
#include "core/judge.hpp"
#include "net/enlisting.hpp"
#include "net/explain.hpp"
#include "resp/view.hpp"
#include "runtime/cluster.hpp"
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
        const bool clustered = with_.engine().cluster() != nullptr;
        const auto reply =
            with_.ask({"GET", clustered ? net::slot_record_key(core::hash_slot(lock_.lock))
                                        : std::string(core::record_key)});
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

namespace {

/// The hash tag of some slot that a server of a Cluster serves; empty: it serves none.
std::string tag_at(runtime::engine& through, core::node_index at) HOLDFAST_LOCKED {
    auto* const found = through.cluster();
    for (std::uint16_t slot = 0; found != nullptr && slot < core::slot_count; ++slot) {
        const auto owner = found->map().owner_of(slot);
        if (owner && &found->server(*owner) == &through.node(at)) {
            return "{" + core::slot_tag(slot) + "}:";
        }
    }
    return {};
}

}  // namespace

kinds::keys trial_keys(runtime::engine& through, core::node_index at) {
    std::string digits(random_digits, '0');
    through.chance_source().hex(digits.data(), digits.size());
    const bool clustered = through.cluster() != nullptr;
    return {.lock = through.settings().prefix + "holdfast:doctor:" + tag_at(through, at) + digits,
            .queued = through.node_count() == 1 || clustered};
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
