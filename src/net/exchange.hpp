#pragma once

#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/locks.hpp"
#include "net/failure.hpp"

namespace holdfast::net {

/// Whoever sends requests and wants their answers. One object may have several under way, at
/// several nodes; the tag, which only its maker understands, tells them apart.
///
/// Exactly one of answered() and failed() follows every request, unless its node is destroyed.
/// Both are called with the client's lock held, and may send further requests. Where answered()
/// throws, failed() follows it: it must throw before it has taken note of the answer, or not at
/// all.
class exchange : public boost::intrusive_ref_counter<exchange> {
  public:
    using tag = std::uint64_t;

    virtual ~exchange() = default;

    /// Appends the request. `by_text`: scripts as EVAL with their text, not as EVALSHA. Called
    /// again, with true, when the server did not know the script.
    virtual void encode(tag request, bool by_text, std::string& out) HOLDFAST_LOCKED = 0;

    /// Whether the request is still wanted: asked before it is sent after a wait for the
    /// connection, and before it is repeated by text. What follows it may have been sent by then.
    [[nodiscard]] virtual bool wanted(tag) const HOLDFAST_LOCKED { return true; }

    /// Whether the server should tell us when what the request reads goes away.
    [[nodiscard]] virtual bool asks_for_notification(tag) const HOLDFAST_LOCKED { return false; }

    /// Whether the request goes behind ASKING: a server of a Cluster that is being given the slot
    /// of its key then carries it out. Such a one is not told of anything: the two prefixes cancel
    /// each other.
    [[nodiscard]] virtual bool asks_by_permission(tag) const HOLDFAST_LOCKED { return false; }

    /// Whether the answer is a push, unless it is an error: SUBSCRIBE, SSUBSCRIBE.
    [[nodiscard]] virtual bool answered_by_push(tag) const HOLDFAST_LOCKED { return false; }

    /// Appends as much of the request as can be said with the lock key alone, or with as few keys
    /// as the kind of lock can do with, and returns true; or appends nothing. For a Cluster, which
    /// while a slot is being moved serves several keys only where it has all of them.
    [[nodiscard]] virtual bool encode_alone(tag, [[maybe_unused]] bool by_text,
                                            [[maybe_unused]] std::string& out) HOLDFAST_LOCKED {
        return false;
    }

    /// Whether the answer would be a vote for a new holder, which not every node may cast.
    [[nodiscard]] virtual bool asks_for_vote(tag) const HOLDFAST_LOCKED { return false; }

    /// Whether the answer would bring a fencing token, which has to lie above the server's floor.
    [[nodiscard]] virtual bool asks_for_token(tag) const HOLDFAST_LOCKED { return false; }

    /// `reply` is one complete frame, for resp::view; its bytes are gone when this returns.
    virtual void answered(tag request, std::string_view reply) HOLDFAST_LOCKED = 0;

    /// No answer, or none in time. The request may have been carried out all the same.
    virtual void failed(tag request, const failure& why) noexcept HOLDFAST_LOCKED = 0;

    /// Enough replicas know what was answered: it, or failed(), follows voter::acknowledge().
    virtual void acknowledged(tag) noexcept HOLDFAST_LOCKED {}
};

}  // namespace holdfast::net
