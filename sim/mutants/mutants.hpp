#pragma once

#include <span>
#include <string>
#include <string_view>

#include "scripts/embedded.hpp"
#include "sim/mutants/breakage.hpp"

namespace holdfast::sim {

/// A breakage with its name and what it stands for.
struct mutant {
    enum class place : std::uint8_t { core, script, kinds, net, runtime };  // of src/

    breakage which{};
    place where{};
    std::string_view name;
    std::string_view what;
    std::string_view script{};  // of a script's mutant: its name, and what is replaced by what
    std::string_view old_text{};
    std::string_view new_text{};
    std::string_view kind{"exclusive"};  // of lock, where the script belongs to one
};

/// Defined in the program: whether what ships is linked with the mutants built in.
extern const bool rules_are_breakable;

/// In the order of `breakage`.
std::span<const mutant> all_mutants();
const char* name_of(mutant::place where);
const mutant* mutant_named(std::string_view name);

/// The script's text, broken if that is the active breakage. Throws std::logic_error where the old
/// text does not occur exactly once: a mutant must not rot.
std::string as_broken(const scripts::script& script);

}  // namespace holdfast::sim
