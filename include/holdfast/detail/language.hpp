#pragma once

/// Included by every public header, directly or through another, before it declares anything: an
/// older standard is told in one line. A missing file, unlike #error, ends the compilation there.
#if __cplusplus < 202002L
#error "Holdfast needs C++20: compile with -std=c++20 or later (GCC 11, Clang 10 or newer)"
#include <Holdfast_needs_C++20>
#endif
