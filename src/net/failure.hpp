#pragma once

#include <string>

#include "holdfast/error.hpp"

namespace holdfast::net {

/// Why a node gave no answer, in words for people and a code for programs.
struct failure {
    errc code = errc::unreachable;
    std::string message;    // without the node's name
    bool hopeless = false;  // asking again changes nothing: somebody has to mend something
};

}  // namespace holdfast::net
