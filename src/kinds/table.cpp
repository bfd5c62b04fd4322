#include "kinds/table.hpp"

#include <array>

#include "kinds/election.hpp"
#include "kinds/exclusive.hpp"
#include "kinds/semaphore.hpp"
#include "kinds/several.hpp"
#include "kinds/shared.hpp"

namespace holdfast::kinds {

std::span<const kind* const> all() {
    static const std::array table{
        &exclusive(), &shared(), &semaphore(), &several(), &election(),
    };
    return table;
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
