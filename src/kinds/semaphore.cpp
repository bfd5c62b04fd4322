#include "kinds/semaphore.hpp"

#include <array>
#include <cassert>

#include "kinds/key_list.hpp"
#include "kinds/owners.hpp"
#include "kinds/script_call.hpp"
#include "resp/encoder.hpp"
#include "scripts/semaphore/embedded.hpp"

namespace holdfast::kinds {
namespace {

using resp::decimal;
using texts = std::span<const std::string_view>;

constexpr std::int64_t slots_in_score = 10'000;  // as in src/scripts/semaphore/permits.lua

constexpr core::sharing with_other_permits{.as = 2, .with = 2};

class semaphore_kind final : public kind {
  public:
    constexpr semaphore_kind() = default;

    [[nodiscard]] std::string_view name() const override { return "semaphore"; }
    [[nodiscard]] std::string_view owner_start() const override { return semaphore_owner; }

    [[nodiscard]] std::span<const scripts::script* const> loads(topology where) const override {
        static constexpr std::array one_voter{&scripts::semaphore::acquire,
                                              &scripts::semaphore::extend,
                                              &scripts::semaphore::release};
        if (where != topology::one_voter) return {};
        return one_voter;
    }

    [[nodiscard]] core::sharing sharing() const override { return with_other_permits; }
    [[nodiscard]] bool allowed_on(topology where) const override {
        return where == topology::one_voter;
    }
    [[nodiscard]] std::string_view why_refused() const override {
        return ": their votes could add up to more holders than there are permits";
    }

    [[nodiscard]] std::string_view stored_as() const override { return "zset"; }

    // Every renewal changes the key, and nobody gives a permit back without calling the next.
    [[nodiscard]] std::string_view woken_by(std::string_view) const override { return {}; }

    void acquire(std::string& out, bool by_text, const claim& what,
                 const drawing& draws) const override {
        assert(draws.tokens == 1);  // who shares a key is handed nothing within its process
        const decimal life{milliseconds(what.ttl)};
        const decimal limit{what.of.permits};
        const decimal kept{milliseconds(what.retention)};
        const decimal floor{draws.floor};
        const std::array<std::string_view, 7> said{
            what.owner, life.text(), limit.text(), kept.text(), floor.text(), what.entry, "1"};
        const std::size_t count = what.entry.empty() ? 5 : what.in_line ? 7 : 6;
        append_call(out, scripts::semaphore::acquire, by_text,
                    key_list(what.of).queue().counter().all(), texts(said).first(count));
    }

    // A grant has a slot: `[1, counter, slot]`.
    [[nodiscard]] vote_answer read_acquire(resp::view reply) const override {
        const auto code = reply.at(0);
        if (!code || code->integer() != 1) return read_vote(reply);
        const auto counter = reply.at(1) ? reply.at(1)->integer() : std::nullopt;
        const auto slot = reply.at(2) ? reply.at(2)->integer() : std::nullopt;
        const bool whole = reply.size() == 3 && counter && *counter >= 0 && slot && *slot >= 0;
        if (!whole || *slot >= slots_in_score) return refused(reply);
        return granted{{static_cast<std::uint64_t>(*counter)}, static_cast<std::uint32_t>(*slot)};
    }

    // Of one voter the token is what it drew: there is nothing to agree on.
    void commit(std::string& out, bool by_text, const claim& what,
                core::fencing_token) const override {
        prolong(out, by_text, what, 0, false);
    }

    void extend(std::string& out, bool by_text, const claim& what) const override {
        prolong(out, by_text, what, milliseconds(what.ttl), false);
    }

    void release(std::string& out, bool by_text, const claim& what) const override {
        const std::array<std::string_view, 2> said{what.owner, what.entry};
        append_call(out, scripts::semaphore::release, by_text, key_list(what.of).queue().all(),
                    texts(said).first(what.entry.empty() ? 1 : 2));
    }

    void verify(std::string& out, bool by_text, const claim& what) const override {
        prolong(out, by_text, what, 0, false);
    }

    [[nodiscard]] ownership_answer read_verify(resp::view reply, const claim&) const override {
        return kinds::read_ownership(reply);
    }

    void linger(std::string& out, const claim& what) const override {
        prolong(out, true, what, milliseconds(what.ttl), true);
    }

    // That of the owner alone is taken away.
    void force(std::string& out, const claim& what, core::duration kept_for,
               const note& why) const override {
        append_call(
            out, scripts::semaphore::force, true, key_list(what.of).beside("forced").queue().all(),
            {what.owner, decimal{milliseconds(kept_for)}.text(), why.by, why.held_by, why.reason});
    }

  private:
    static void prolong(std::string& out, bool by_text, const claim& what, std::int64_t life,
                        bool exactly) {
        const decimal lives{life};
        const decimal kept{milliseconds(what.retention)};
        const std::array<std::string_view, 4> said{what.owner, lives.text(), kept.text(), "1"};
        append_call(out, scripts::semaphore::extend, by_text, key_list(what.of).counter().all(),
                    texts(said).first(exactly ? 4 : 3));
    }
};

}  // namespace

const kind& semaphore() noexcept {
    static constexpr semaphore_kind only;
    return only;
}

permit read_permit(double score) {
    const auto packed = static_cast<std::int64_t>(score);
    return {.slot = static_cast<std::uint32_t>(packed % slots_in_score),
            .over_at = hundredths(packed / slots_in_score)};
}

std::string lowest_score_alive_at(std::chrono::microseconds now) {
    const auto next = std::chrono::floor<hundredths>(now).count() + 1;
    return std::to_string(next * slots_in_score);
}

std::uint32_t read_limit(double score) {
    constexpr double below = 3'000'000;
    return static_cast<std::uint32_t>(score + below);
}

void append_set_limit(std::string& out, const keys& of, std::uint32_t limit,
                      core::duration retention) {
    append_call(out, scripts::semaphore::set_limit, true, key_list(of).queue().all(),
                {decimal{limit}.text(), decimal{milliseconds(retention)}.text()});
}

}  // namespace holdfast::kinds
