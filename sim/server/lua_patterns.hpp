#pragma once

struct lua_State;

namespace holdfast::sim {

/// Makes `string.match(text, pattern)` remember what it found: with the same words it finds the
/// same again. Everybody who looks at a server's record, once a second, takes it apart a dozen
/// times; that was half of a run. No script can tell.
void remember_matches(lua_State* lua);

}  // namespace holdfast::sim
