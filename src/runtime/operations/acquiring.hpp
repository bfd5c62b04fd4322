#pragma once

#include <exception>
#include <memory>
#include <optional>

#include "core/contend.hpp"
#include "runtime/operations/attempt.hpp"
#include "runtime/operations/hold.hpp"

namespace holdfast::runtime {

/// One caller's wish for a lock, from the call to the lease: carries out core::contend.
///
/// The same for blocking and asynchronous callers: they differ in who is told. It keeps itself
/// alive from start() until it is concluded.
///
/// No exception leaves it. What is thrown inside is its result: what it had asked for is released,
/// the next in the queue has its turn, and whoever called it, for another caller most often, goes
/// on.
class acquiring final : public boost::intrusive_ref_counter<acquiring>,
                        private attempt::listener,
                        private contender,
                        private timer {
  public:
    struct request {
        plan_pointer what;
        bool waits = true;
        core::time_point give_up_at = core::never;
    };

    /// What came of it: exactly one of the four.
    struct result {
        std::shared_ptr<hold> won{};
        std::optional<attempt::denial> denied{};
        std::optional<net::failure> failed{};
        std::exception_ptr thrown{};  // no memory, most likely
    };
    using listener = std::function<void(acquiring&)>;

    /// `done` is called once, with the lock held, perhaps before start() returns, and must not
    /// throw.
    acquiring(engine_pointer through, request wish, listener done) HOLDFAST_LOCKED;
    ~acquiring() override;

    void start(core::time_point now) noexcept HOLDFAST_LOCKED;
    void cancel(core::time_point now) noexcept HOLDFAST_LOCKED;

    /// Has not asked the servers yet: others stand before it, or go first.
    [[nodiscard]] bool stands_in_line() const HOLDFAST_LOCKED { return in_line_ && attempts_ == 0; }

    [[nodiscard]] result take_result() HOLDFAST_LOCKED { return std::move(result_); }

  private:
    void decided(const attempt& what, core::time_point now) noexcept override HOLDFAST_LOCKED;
    [[nodiscard]] core::hand_off_batch batch() const override HOLDFAST_LOCKED;
    [[nodiscard]] core::local_id id() const override { return id_; }
    [[nodiscard]] core::sharing sharing() const override { return request_.what->kind->sharing(); }
    /// Readers, too: all who stand in line next to each other have it at once. And candidates, each
    /// of whom is noted by its own owner token.
    [[nodiscard]] bool apart() const override {
        const auto& what = *request_.what;
        return what.fair || (what.keys.queued && (sharing() != core::alone || what.candidate));
    }
    void turn(core::duration pause, core::time_point now) noexcept override HOLDFAST_LOCKED;
    void notified(core::node_index where, core::time_point now) noexcept override HOLDFAST_LOCKED;
    [[nodiscard]] bool waits_as(std::string_view owner) const override HOLDFAST_LOCKED;
    void called(core::time_point now) noexcept override HOLDFAST_LOCKED;
    void untracked(core::time_point now) noexcept override HOLDFAST_LOCKED;
    bool take_place(const plan& of, std::string& owner,
                    const kinds::entry& entry) override HOLDFAST_LOCKED;
    [[nodiscard]] const plan& what() const override { return *request_.what; }
    void abort() noexcept override HOLDFAST_LOCKED;
    bool take_over(const core::grant& left, hold& from, core::arrival joined,
                   core::time_point now) noexcept override HOLDFAST_LOCKED;
    /// Whether an owner token of `from` could be its own.
    [[nodiscard]] bool may_own_as(const hold& from) const;
    void due(core::time_point now) noexcept override HOLDFAST_LOCKED;

    template <typename Step>
    void contain(core::time_point now, Step&& step) noexcept HOLDFAST_LOCKED;
    void begin(core::time_point now) HOLDFAST_LOCKED;
    void step(const core::contend::event& happened, core::time_point now) noexcept HOLDFAST_LOCKED;
    void carry_out(const core::contend::decision& next, core::time_point now) HOLDFAST_LOCKED;
    void finish(core::time_point now) HOLDFAST_LOCKED;
    void win_attempt(core::time_point now) HOLDFAST_LOCKED;
    void win(hold::acquired& what, core::time_point now) HOLDFAST_LOCKED;
    /// As a candidate who was elected.
    void lead(const std::shared_ptr<hold>& by, core::time_point now) noexcept HOLDFAST_LOCKED;
    [[nodiscard]] net::failure why_not() const HOLDFAST_LOCKED;
    void conclude(result what, core::time_point now) noexcept HOLDFAST_LOCKED;
    void tell(result what) noexcept HOLDFAST_LOCKED;
    void withdraw(core::time_point now) noexcept HOLDFAST_LOCKED;
    void listen(core::time_point now) HOLDFAST_LOCKED;
    void leave_place(core::time_point now) noexcept HOLDFAST_LOCKED;
    void leave_useless_place(core::time_point now) noexcept HOLDFAST_LOCKED;
    void pass_place_on() noexcept HOLDFAST_LOCKED;
    [[nodiscard]] std::optional<attempt::denial> local_holder(core::time_point now) const
        HOLDFAST_LOCKED;
    [[nodiscard]] std::optional<attempt::denial> local_holder(
        const wait_queue& here, core::time_point now) const HOLDFAST_LOCKED;
    template <typename Visit>
    void each_queue(Visit&& visit) const HOLDFAST_LOCKED;
    [[nodiscard]] bool wants_several() const;
    [[nodiscard]] attempt::denial denied_by(core::time_point now) const HOLDFAST_LOCKED;

    engine_pointer engine_;
    request request_;
    listener done_;
    boost::intrusive_ptr<acquiring> under_way_;  // itself
    core::local_id id_;
    wait_queue* queue_ = nullptr;  // of the first key, from the start until it is concluded
    core::contend machine_;
    core::time_point started_at_{};
    boost::intrusive_ptr<attempt> attempt_;  // the latest
    std::optional<hold::acquired> handed_off_;
    std::optional<attempt::denial> denial_;  // the latest
    core::time_point denied_at_{};
    std::optional<attempt::place> place_;  // in line at the only voter, between two attempts
    std::string listened_to_;              // the holder whose key we are told of
    unsigned attempts_ = 0;
    bool waited_ = false;    // for its turn
    bool in_line_ = false;   // of this client, or apart from it
    bool enrolled_ = false;  // as a timer
    bool won_ = false;
    bool concluded_ = false;
    result result_;
};

}  // namespace holdfast::runtime
