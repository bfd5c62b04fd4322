#pragma once

#include "core/contend.hpp"

/// Reads what a contend has counted, for the comparison of states, as `inside_acquire.hpp` does.
namespace holdfast::sim::inside {

template <auto Attempts>
struct counting {
    friend unsigned& attempts_of(core::contend& of) { return of.*Attempts; }
};

unsigned& attempts_of(core::contend& of);

}  // namespace holdfast::sim::inside
