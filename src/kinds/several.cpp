#include "kinds/several.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kinds/exclusive.hpp"
#include "kinds/owners.hpp"
#include "kinds/script_call.hpp"
#include "resp/encoder.hpp"
#include "scripts/several/embedded.hpp"

namespace holdfast::kinds {
namespace {

using resp::decimal;
using texts = std::span<const std::string_view>;

/// The keys of one request, in the order in which a script wants them: all locks, then of each what
/// stands beside it.
class keys_of_all {
  public:
    explicit keys_of_all(const keys& of) : of_(of) {
        names_.reserve(3 * of.locks());
        for (std::size_t n = 0; n < of.locks(); ++n) names_.push_back(of.lock_at(n));
    }

    keys_of_all& queues() { return of_.queued ? beside("queue") : *this; }
    keys_of_all& counters() { return of_.fenced ? beside("fence") : *this; }

    [[nodiscard]] texts all() const { return names_; }

  private:
    // They stay where they are until the request is written; the next one has the room again.
    keys_of_all& beside(std::string_view what) {
        for (std::size_t n = 0; n < of_.locks(); ++n) {
            auto& name = room();
            name.clear();
            append_key_beside(name, of_.lock_at(n), what);
            names_.push_back(name);
        }
        return *this;
    }
    std::string& room() {
        thread_local std::vector<std::string> rooms;
        rooms.resize(std::max(rooms.size(), names_.capacity()));
        return rooms[names_.size()];
    }

    const keys& of_;
    std::vector<std::string_view> names_;
};

class several_kind final : public kind {
  public:
    constexpr several_kind() = default;

    [[nodiscard]] std::string_view name() const override { return "several"; }
    [[nodiscard]] std::string_view owner_start() const override { return several_owner; }

    [[nodiscard]] std::span<const scripts::script* const> loads(topology where) const override {
        static constexpr std::array one_voter{&scripts::several::queue_acquire,
                                              &scripts::several::extend,
                                              &scripts::several::release};
        static constexpr std::array quorum{&scripts::several::acquire, &scripts::several::commit,
                                           &scripts::several::extend, &scripts::several::release};
        return where == topology::one_voter ? std::span<const scripts::script* const>(one_voter)
                                            : std::span<const scripts::script* const>(quorum);
    }

    [[nodiscard]] core::sharing sharing() const override { return core::alone; }
    [[nodiscard]] bool allowed_on(topology) const override { return true; }

    [[nodiscard]] std::string_view woken_by(std::string_view changed) const override {
        return exclusive().woken_by(changed);
    }

    void acquire(std::string& out, bool by_text, const claim& what,
                 const drawing& draws) const override {
        const decimal life{milliseconds(what.ttl)};
        const decimal kept{milliseconds(what.retention)};
        const decimal floor{draws.floor};
        const auto& which =
            what.of.queued ? scripts::several::queue_acquire : scripts::several::acquire;
        std::array<std::string_view, 6> said{what.owner, life.text()};
        std::size_t count = 2;
        if (what.of.queued) {
            said[count++] = what.entry;
            said[count++] = what.in_line ? "1" : "0";
        }
        if (what.of.fenced) {
            said[count++] = kept.text();
            said[count++] = floor.text();
        }
        append_call(out, which, by_text, keys_of_all(what.of).queues().counters().all(),
                    texts(said).first(count));
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

    void commit(std::string& out, bool by_text, const claim& what,
                core::fencing_token token) const override {
        append_call(out, scripts::several::commit, by_text, keys_of_all(what.of).counters().all(),
                    {what.owner, decimal{token.value}.text(),
                     decimal{milliseconds(what.retention)}.text()});
    }

    void extend(std::string& out, bool by_text, const claim& what) const override {
        prolong(out, scripts::several::extend, by_text, what);
    }

    void release(std::string& out, bool by_text, const claim& what) const override {
        const std::array<std::string_view, 2> said{what.owner, what.entry};
        append_call(out, scripts::several::release, by_text, keys_of_all(what.of).queues().all(),
                    texts(said).first(what.of.queued ? 2 : 1));
    }

    [[nodiscard]] release_answer read_release(resp::view reply) const override {
        return kinds::read_release(reply);
    }

    void verify(std::string& out, bool, const claim& what) const override {
        std::vector<std::string_view> command{"MGET"};
        for (std::size_t n = 0; n < what.of.locks(); ++n) command.push_back(what.of.lock_at(n));
        resp::append_command(out, command);
    }

    [[nodiscard]] ownership_answer read_verify(resp::view reply, const claim& what) const override {
        if (reply.is_error() || reply.size() != what.of.locks()) {
            return kinds::read_ownership(reply);
        }
        for (const auto found : reply) {
            if (found.text() != what.owner) return ownership::not_ours;
        }
        return ownership::ours;
    }

    void linger(std::string& out, const claim& what) const override {
        prolong(out, scripts::several::linger, true, what);
    }

    // Of one key: who holds others along with it finds out with its next renewal.
    void force(std::string& out, const claim& what, core::duration kept_for,
               const note& why) const override {
        exclusive().force(out, what, kept_for, why);
    }

  private:
    static void prolong(std::string& out, const scripts::script& how, bool by_text,
                        const claim& what) {
        const decimal life{milliseconds(what.ttl)};
        const decimal kept{milliseconds(what.retention)};
        const std::array<std::string_view, 3> said{what.owner, life.text(), kept.text()};
        append_call(out, how, by_text, keys_of_all(what.of).counters().all(),
                    texts(said).first(what.of.fenced ? 3 : 2));
    }
};

}  // namespace

const kind& several() noexcept {
    static constexpr several_kind only;
    return only;
}

}  // namespace holdfast::kinds
