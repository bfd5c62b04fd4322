#pragma once

#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/error.hpp"

namespace holdfast::net {

/// Why a node gave no answer, in words for people and a code for programs.
struct failure {
    errc code = errc::unreachable;
    std::string message;    // without the node's name
    bool hopeless = false;  // asking again changes nothing: somebody has to mend something
    bool emptied = false;   // the server was, or another took its place, while it was asked: it can
                            // be asked again at once

    /// Not asked at all: the server is in quarantine for so long still.
    std::optional<std::chrono::nanoseconds> quarantine{};

    /// Not carried out: the slot of the key is being moved. It can be asked again after so long.
    std::optional<std::chrono::nanoseconds> moving{};
};

/// In words that need no memory.
inline failure out_of_memory(errc code = errc::unreachable) noexcept {
    return {.code = code, .message = "out of memory"};
}

/// A copy, or at least its code.
inline failure copy_of(const failure& why) noexcept {
    try {
        return why;
    } catch (const std::bad_alloc&) {
        return out_of_memory(why.code);
    }
}

/// No answer, and why.
inline failure no_answer(std::string_view why) noexcept {
    try {
        return {.message = std::string(why)};
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    }
}

/// What is being handled is why. REQUIRES: inside a catch clause.
inline failure current_failure() noexcept {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return out_of_memory();
    } catch (const std::exception& thrown) {
        return no_answer(thrown.what());
    } catch (...) {
        return {.message = "unknown error"};
    }
}

}  // namespace holdfast::net
