#include "kinds/table.hpp"

#include <array>
#include <memory>
#include <vector>

#include "kinds/exclusive.hpp"

namespace holdfast::kinds {

std::span<const kind* const> all() {
    static const std::array table{
        &exclusive(),
    };
    return table;
}

std::span<const scripts::script* const> scripts_to_load() {
    // Never destroyed: a client may outlive main(), and connect while statics go.
    static const auto& list = *[] {
        auto each = std::make_unique<std::vector<const scripts::script*>>();
        for (const auto* kind : all()) {
            each->insert(each->end(), kind->loads().begin(), kind->loads().end());
        }
        return each.release();
    }();
    return list;
}

std::string_view woken_by(std::string_view changed) {
    for (const auto* kind : all()) {
        if (const auto lock = kind->woken_by(changed); !lock.empty()) return lock;
    }
    return {};
}

}  // namespace holdfast::kinds
