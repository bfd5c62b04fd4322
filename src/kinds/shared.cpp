#include "kinds/shared.hpp"

#include <array>

#include "kinds/exclusive.hpp"
#include "kinds/key_list.hpp"
#include "kinds/owners.hpp"
#include "kinds/script_call.hpp"
#include "resp/encoder.hpp"
#include "scripts/shared/embedded.hpp"

namespace holdfast::kinds {
namespace {

using resp::decimal;

constexpr core::sharing with_other_readers{.as = 1, .with = 1};

class shared_kind final : public kind {
  public:
    constexpr shared_kind() = default;

    [[nodiscard]] std::string_view name() const override { return "shared"; }
    [[nodiscard]] std::string_view owner_start() const override { return shared_owner; }

    [[nodiscard]] std::span<const scripts::script* const> loads(topology where) const override {
        static constexpr std::array one_voter{&scripts::shared::queue_acquire,
                                              &scripts::shared::extend, &scripts::shared::release};
        static constexpr std::array quorum{&scripts::shared::acquire, &scripts::shared::commit,
                                           &scripts::shared::extend, &scripts::shared::release};
        return where == topology::one_voter ? std::span<const scripts::script* const>(one_voter)
                                            : std::span<const scripts::script* const>(quorum);
    }

    [[nodiscard]] core::sharing sharing() const override { return with_other_readers; }
    [[nodiscard]] bool allowed_on(topology) const override { return true; }

    [[nodiscard]] std::string_view woken_by(std::string_view changed) const override {
        return changed.starts_with(own_keys) ? std::string_view{} : changed;
    }

    void acquire(std::string& out, bool by_text, const claim& what,
                 const drawing& draws) const override {
        const decimal life{milliseconds(what.ttl)};
        const decimal kept{milliseconds(what.retention)};
        const decimal tokens{draws.tokens};
        const decimal floor{draws.floor};
        if (what.of.queued) {
            return append_call(out, scripts::shared::queue_acquire, by_text,
                               key_list(what.of).queue().beside("readers").counter().all(),
                               {what.owner, life.text(), what.entry, what.in_line ? "1" : "0",
                                kept.text(), tokens.text(), floor.text()});
        }
        append_call(out, scripts::shared::acquire, by_text,
                    key_list(what.of).beside("readers").counter().all(),
                    {what.owner, life.text(), kept.text(), tokens.text(), floor.text()});
    }

    void commit(std::string& out, bool by_text, const claim& what,
                core::fencing_token token) const override {
        append_call(out, scripts::shared::commit, by_text,
                    key_list(what.of).beside("readers").counter().all(),
                    {what.owner, decimal{token.value}.text(),
                     decimal{milliseconds(what.retention)}.text()});
    }

    void extend(std::string& out, bool by_text, const claim& what) const override {
        prolong(out, by_text, what, milliseconds(what.ttl));
    }

    void release(std::string& out, bool by_text, const claim& what) const override {
        append_call(out, scripts::shared::release, by_text,
                    key_list(what.of).beside("readers").queue().all(), {what.owner, what.entry});
    }

    void verify(std::string& out, bool by_text, const claim& what) const override {
        prolong(out, by_text, what, 0);
    }

    [[nodiscard]] ownership_answer read_verify(resp::view reply, const claim&) const override {
        return kinds::read_ownership(reply);
    }

    void linger(std::string& out, const claim& what) const override {
        append_call(out, scripts::shared::linger, true,
                    key_list(what.of).beside("readers").counter().all(),
                    {what.owner, decimal{milliseconds(what.ttl)}.text(),
                     decimal{milliseconds(what.retention)}.text()});
    }

    // Takes the lock from all who read it: the value of the lock is whom it is taken from.
    void force(std::string& out, const claim& what, core::duration kept_for,
               const note& why) const override {
        exclusive().force(out, what, kept_for, why);
    }

  private:
    static void prolong(std::string& out, bool by_text, const claim& what, std::int64_t life) {
        const decimal kept{milliseconds(what.retention)};
        append_call(out, scripts::shared::extend, by_text,
                    key_list(what.of).beside("readers").queue().counter().all(),
                    {what.owner, decimal{life}.text(), what.of.fenced ? kept.text() : "",
                     what.of.queued ? "1" : "0"});
    }
};

}  // namespace

const kind& shared() noexcept {
    static constexpr shared_kind only;
    return only;
}

std::string reader_of(std::string_view writer) {
    return std::string(shared_owner) + std::string(writer.substr(owner_start_bytes));
}

std::string readers_key(std::string_view lock) {
    std::string name;
    append_key_beside(name, lock, "readers");
    return name;
}

}  // namespace holdfast::kinds
