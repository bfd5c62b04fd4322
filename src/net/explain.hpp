#pragma once

#include <string_view>

#include "net/failure.hpp"
#include "resp/view.hpp"

namespace holdfast::net {

/// What an error reply means for whoever sent the command.
failure explain(resp::view error_reply);

/// The server says that it is not the master, or not the one for this key, any more: what is known
/// of it is out of date. `reply` is a whole frame.
bool says_not_the_master(std::string_view reply);

}  // namespace holdfast::net
