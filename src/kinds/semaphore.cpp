#include "kinds/semaphore.hpp"

#include <array>

#include "kinds/key_list.hpp"
#include "kinds/owners.hpp"
#include "kinds/script_call.hpp"
#include "resp/encoder.hpp"
#include "scripts/semaphore/embedded.hpp"

namespace holdfast::kinds {
namespace {

using resp::decimal;

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

    [[nodiscard]] std::string_view woken_by(std::string_view changed) const override {
        return changed.starts_with(own_keys) ? std::string_view{} : changed;
    }

    void acquire(std::string& out, bool by_text, const claim& what,
                 const drawing& draws) const override {
        append_call(out, scripts::semaphore::acquire, by_text,
                    key_list(what.of).queue().beside("permits").counter().all(),
                    {what.owner, decimal{milliseconds(what.ttl)}.text(), what.entry,
                     what.in_line ? "1" : "0", decimal{milliseconds(what.retention)}.text(),
                     decimal{draws.tokens}.text(), decimal{draws.floor}.text(),
                     decimal{what.of.permits}.text()});
    }

    [[nodiscard]] vote_answer read_acquire(resp::view reply) const override {
        return read_vote(reply);
    }

    [[nodiscard]] bool has_shortcut(const keys&) const override { return false; }
    void acquire_by_shortcut(std::string&, const claim&) const override {}
    [[nodiscard]] vote_answer read_shortcut(resp::view reply) const override {
        return refused(reply);
    }

    [[nodiscard]] ownership_answer read_ownership(resp::view reply) const override {
        return kinds::read_ownership(reply);
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
        append_call(out, scripts::semaphore::release, by_text,
                    key_list(what.of).beside("permits").queue().all(), {what.owner, what.entry});
    }

    [[nodiscard]] release_answer read_release(resp::view reply) const override {
        return kinds::read_release(reply);
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

    // One permit alone is taken away: that of the owner.
    void force(std::string& out, const claim& what, core::duration, const note&) const override {
        release(out, true, what);
    }

  private:
    static void prolong(std::string& out, bool by_text, const claim& what, std::int64_t life,
                        bool exactly) {
        append_call(out, scripts::semaphore::extend, by_text,
                    key_list(what.of).beside("permits").counter().all(),
                    {what.owner, decimal{life}.text(), decimal{milliseconds(what.retention)}.text(),
                     exactly ? "1" : "0"});
    }
};

}  // namespace

const kind& semaphore() noexcept {
    static constexpr semaphore_kind only;
    return only;
}

std::string permits_key(std::string_view lock) {
    std::string name;
    append_key_beside(name, lock, "permits");
    return name;
}

void append_set_limit(std::string& out, const keys& of, std::uint32_t limit,
                      core::duration retention) {
    append_call(out, scripts::semaphore::set_limit, true,
                key_list(of).beside("permits").queue().all(),
                {decimal{limit}.text(), decimal{milliseconds(retention)}.text()});
}

}  // namespace holdfast::kinds
