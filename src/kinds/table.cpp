#include "kinds/table.hpp"

#include <array>
#include <memory>
#include <vector>

#include "kinds/exclusive.hpp"
#include "kinds/semaphore.hpp"
#include "kinds/shared.hpp"

namespace holdfast::kinds {

std::span<const kind* const> all() {
    static const std::array table{
        &exclusive(),
        &shared(),
        &semaphore(),
    };
    return table;
}

namespace {

using script_list = std::vector<const scripts::script*>;

// Never destroyed: a client may outlive main(), and connect while statics go.
const script_list& list_for(topology where) {
    auto list = std::make_unique<script_list>();
    for (const auto* kind : all()) {
        const auto loads = kind->loads(where);
        list->insert(list->end(), loads.begin(), loads.end());
    }
    return *list.release();
}

}  // namespace

std::span<const scripts::script* const> scripts_to_load(topology where) {
    static const auto& of_one_voter = list_for(topology::one_voter);
    static const auto& of_a_quorum = list_for(topology::quorum);
    return where == topology::one_voter ? of_one_voter : of_a_quorum;
}

std::string_view woken_by(std::string_view changed) {
    for (const auto* kind : all()) {
        if (const auto lock = kind->woken_by(changed); !lock.empty()) return lock;
    }
    return {};
}

const kind& of_owner(std::string_view owner) {
    for (const auto* kind : all()) {
        if (owner.starts_with(kind->owner_start())) return *kind;
    }
    return exclusive();
}

}  // namespace holdfast::kinds
