#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/backoff.hpp"
#include "runtime/engine.hpp"
#include "runtime/operations/query.hpp"

namespace holdfast::runtime {

/// What somebody watches: a few questions about one lock, of which the first reads the key whose
/// change the servers tell of.
class watched {
  public:
    /// What a look at the servers brought.
    struct finding {
        bool satisfied = false;  // it is what was waited for
        /// Otherwise: after how long it may change without that anybody tells, if that is known.
        std::optional<core::duration> changes_in{};
        std::optional<net::failure> failed{};  // too few could say
    };
    /// One for each question to each voter, all of the first voter first.
    using answers = std::vector<query::answer>;

    virtual ~watched() = default;

    /// A part of it is about this lock, with the client's prefix.
    [[nodiscard]] virtual const std::string& lock() const = 0;
    /// What the servers tell of.
    [[nodiscard]] virtual const std::string& key() const = 0;
    [[nodiscard]] virtual std::size_t questions() const = 0;
    /// It writes rather than watches: it is told of nothing, and an answer counts only when the
    /// replicas have acknowledged it, where they have to. May be asked again and again.
    [[nodiscard]] virtual bool writes() const { return false; }
    /// `by_text`: as of net::exchange.
    virtual void ask(std::size_t question, bool by_text, std::string& out) const = 0;
    /// May throw std::bad_alloc.
    virtual finding judge(engine& through, const electorate& of,
                          const answers& all) HOLDFAST_LOCKED = 0;
};

/// Looks at what the servers have, again whenever that may have changed, until it is what somebody
/// waits for.
///
///   looking ---> waiting ---> looking ...   it is told of a change, or it is time
///      \------------\-------> over          satisfied, failed, cancelled, or the time is over
///
/// It is told of by the servers (CLIENT TRACKING), by this client itself, whom they do not tell of
/// what it has changed, and by every new connection. A net is under it: a look every 5 s, or by
/// polling where a server does not tell. While no majority answers it goes on for
/// options::patience.
///
/// The same for blocking and asynchronous callers: they differ in who is told. It keeps itself
/// alive from start() until it is over, and no exception leaves it.
class watching final : public net::exchange, private timer {
  public:
    struct request {
        std::shared_ptr<watched> what{};
        bool waits = true;
        core::time_point give_up_at = core::never;
    };
    enum class outcome : std::uint8_t { none, satisfied, not_satisfied, failed };
    struct result {
        outcome how = outcome::none;
        std::optional<net::failure> failed{};
        std::exception_ptr thrown{};  // no memory, most likely
    };
    using listener = std::function<void(watching&)>;

    /// `done` is called once, with the lock held, perhaps before start() returns, and must not
    /// throw.
    watching(engine_pointer through, request wish, listener done) HOLDFAST_LOCKED;
    ~watching() override;

    void start(core::time_point now) noexcept HOLDFAST_LOCKED;
    void cancel() noexcept HOLDFAST_LOCKED;
    /// The client is closed.
    void abort() noexcept HOLDFAST_LOCKED;
    /// What it looks at may have.
    void changed(core::time_point now) noexcept HOLDFAST_LOCKED;
    /// What the node would have told meanwhile is lost. A look that is on its way there is enough.
    void reconnected(core::node_index node, core::time_point now) noexcept HOLDFAST_LOCKED;
    /// It tells of nothing any more.
    void disconnected(core::node_index node, core::time_point now) noexcept HOLDFAST_LOCKED;

    [[nodiscard]] const watched& what() const { return *request_.what; }
    [[nodiscard]] result take_result() HOLDFAST_LOCKED { return std::move(result_); }

  private:
    void encode(tag asked, bool by_text, std::string& out) override HOLDFAST_LOCKED;
    [[nodiscard]] bool asks_for_notification(tag asked) const override HOLDFAST_LOCKED;
    [[nodiscard]] bool wanted(tag) const override HOLDFAST_LOCKED { return !over(); }
    void answered(tag asked, std::string_view reply) override HOLDFAST_LOCKED;
    void failed(tag asked, const net::failure& why) noexcept override HOLDFAST_LOCKED;
    void acknowledged(tag asked) noexcept override HOLDFAST_LOCKED;
    void due(core::time_point now) noexcept override HOLDFAST_LOCKED;

    [[nodiscard]] bool over() const { return result_.how != outcome::none; }
    [[nodiscard]] bool told_of_changes() const HOLDFAST_LOCKED;
    void look(core::time_point now) HOLDFAST_LOCKED;
    void settle(tag asked, query::answer what) noexcept HOLDFAST_LOCKED;
    void judge(core::time_point now) HOLDFAST_LOCKED;
    void not_answered(net::failure why, core::time_point now) HOLDFAST_LOCKED;
    void wait(const watched::finding& found, core::time_point now) HOLDFAST_LOCKED;
    void look_in(core::duration pause, core::time_point now) noexcept HOLDFAST_LOCKED;
    void conclude(result what) noexcept HOLDFAST_LOCKED;
    template <typename Step>
    void contain(Step&& step) noexcept HOLDFAST_LOCKED;

    engine_pointer engine_;
    request request_;
    listener done_;
    boost::intrusive_ptr<watching> under_way_;  // itself
    electorate voters_;
    watched::answers answers_;
    std::size_t missing_ = 0;  // answers to the look that is under way
    bool again_ = false;       // something changed meanwhile
    bool enrolled_ = false;
    std::optional<net::failure> silent_;  // the last look brought nothing
    core::time_point silent_since_{};
    bool heard_ = false;  // any look brought something
    core::backoff pause_;
    core::backoff polling_;
    result result_;
};

}  // namespace holdfast::runtime
