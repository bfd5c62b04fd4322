#include "sim/script_set.hpp"

#include "scripts/embedded.hpp"
#include "sim/mutants.hpp"

namespace holdfast::sim {

script_set::script_set() {
    const auto load = [&](operation what, const scripts::script& text) {
        handles_[static_cast<std::size_t>(what)] = lua_.compile(as_broken(text));
    };
    load(operation::enlist, scripts::enlist);
    load(operation::acquire, scripts::acquire);
    load(operation::commit, scripts::commit);
    load(operation::extend, scripts::extend);
    load(operation::release, scripts::release);
}

}  // namespace holdfast::sim
