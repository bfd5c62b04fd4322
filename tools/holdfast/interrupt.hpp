#pragma once

namespace holdfast::tool {

/// Ends this process by SIGINT, as Ctrl-C would have ended it. bash ends a loop or a script only if
/// its child died of the signal: one that exits, with 130 or anything else, has dealt with it.
///
/// Returns without a controlling terminal: where nobody can type Ctrl-C the exit code tells.
/// REQUIRES: nothing is left to be done, and no other thread.
void die_of_interrupt();

}  // namespace holdfast::tool
