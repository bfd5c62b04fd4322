#include "sim/script_set.hpp"

#include "scripts/embedded.hpp"
#include "sim/mutants.hpp"

namespace holdfast::sim {

script_set::script_set() {
    const auto load = [&](operation what, const scripts::script& text) {
        handles_[static_cast<std::size_t>(what)] = lua_.compile(as_broken(text));
    };
    load(operation::enlist, scripts::enlist);
    load(operation::acquire, scripts::exclusive::acquire);
    load(operation::commit, scripts::exclusive::commit);
    load(operation::extend, scripts::exclusive::extend);
    load(operation::release, scripts::exclusive::release);
}

}  // namespace holdfast::sim
