#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::net {

/// What a node of a Cluster answers to a request that it does not carry out.
struct redirection {
    enum class kind : std::uint8_t {
        none,          // it is another answer
        moved,         // another server serves the slot: MOVED
        ask,           // this once, another server: the key was moved there already: ASK
        try_again,     // some of the keys were moved and some not: TRYAGAIN
        cluster_down,  // nobody serves the slot at present: CLUSTERDOWN
    };
    kind what = kind::none;
    std::string host{};      // of moved and ask; empty: the host that answered
    std::uint16_t port = 0;  // of moved and ask
};

/// Whether the text of an error is one of these.
bool says_redirected(std::string_view error);

/// `reply` is a whole frame. What cannot be understood redirects nobody.
redirection read_redirection(std::string_view reply);

}  // namespace holdfast::net
