#include "sim/server/script_library.hpp"

#include "scripts/embedded.hpp"
#include "sim/mutants/mutants.hpp"
#include "sim/server/sha1.hpp"

namespace holdfast::sim {

// In the order of how often they are asked for: they are looked for one by one.
script_library::script_library() {
    for (const auto* ours : {&scripts::exclusive::acquire,
                             &scripts::exclusive::release,
                             &scripts::exclusive::extend,
                             &scripts::exclusive::queue_acquire,
                             &scripts::exclusive::queue_release,
                             &scripts::exclusive::commit,
                             &scripts::enlist,
                             &scripts::exclusive::linger,
                             &scripts::exclusive::force,
                             &scripts::shared::queue_acquire,
                             &scripts::shared::release,
                             &scripts::shared::extend,
                             &scripts::shared::acquire,
                             &scripts::shared::commit,
                             &scripts::shared::linger,
                             &scripts::semaphore::acquire,
                             &scripts::semaphore::release,
                             &scripts::semaphore::extend,
                             &scripts::several::queue_acquire,
                             &scripts::several::release,
                             &scripts::several::extend,
                             &scripts::several::acquire,
                             &scripts::several::commit,
                             &scripts::several::linger,
                             &scripts::election::queue_acquire,
                             &scripts::election::queue_release,
                             &scripts::election::acquire,
                             &scripts::election::commit,
                             &scripts::election::release,
                             &scripts::latch::look,
                             &scripts::latch::count_down}) {
        all_.push_back({.name = ours->name,
                        .sha1 = std::string(ours->sha1),
                        .text = std::string(ours->text),
                        .handle = lua_.compile(as_broken(*ours))});
    }
}

std::optional<script_library::place> script_library::find(std::string_view sha1) const {
    for (place i = 0; i < all_.size(); ++i) {
        if (all_[i].sha1 == sha1) return i;
    }
    return std::nullopt;
}

script_library::place script_library::find_or_add(std::string_view text) {
    for (place i = 0; i < all_.size(); ++i) {
        if (all_[i].text == text) return i;
    }
    all_.push_back({.name = {},
                    .sha1 = sim::sha1(text),
                    .text = std::string(text),
                    .handle = lua_.compile(text)});
    return all_.size() - 1;
}

}  // namespace holdfast::sim
