#pragma once

#include <span>
#include <string>

namespace holdfast::lab {

/// One client, as a process of its own: so that it can be stopped and killed as real ones are.
/// Arguments: the scheme, then the port of each server. It obeys lines on standard input and
/// answers each with one on standard output:
///
///   connect             connected
///   acquire KEY MS      held TOKEN | held - | denied | failed WHY
///   release KEY         released | failed WHY
///   believes            yes | no
///
/// Returns the exit code when the input ends.
int serve_as_client(std::span<const std::string> arguments);

}  // namespace holdfast::lab
