#include "kinds/table.hpp"

#include <array>
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
    static const auto list = [] {
        std::vector<const scripts::script*> each;
        for (const auto* kind : all()) {
            each.insert(each.end(), kind->loads().begin(), kind->loads().end());
        }
        return each;
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
