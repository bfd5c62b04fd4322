#include "sim/check/register.hpp"

#include <string>

namespace holdfast::sim {

void fenced_register::visit(holder_id who, core::fencing_token token, instant from,
                            random& chance) {
    const auto& settings = world_.settings();
    const auto thinks = chance.between(core::duration{0}, settings.timing.ttl * 2);
    visitors_.push_back({who, token, thinks, 0});
    world_.schedule(from + chance.between(core::duration{0}, settings.timing.ttl),
                    event::kind::register_read, static_cast<std::uint32_t>(visitors_.size() - 1));
}

void fenced_register::read(std::uint32_t visit) {
    auto& v = visitors_[visit];
    if (v.token < fence_) return;
    fence_ = v.token;
    v.version = version_;
    world_.schedule(world_.now() + v.thinks, event::kind::register_write, visit);
}

void fenced_register::write(std::uint32_t visit) {
    const auto& v = visitors_[visit];
    if (v.token < fence_) return;
    if (v.version != version_ && checkers_.order_promised()) {
        checkers_.report(rule::lost_update, checkers_.name_of_holder(v.who) +
                                                " overwrote version " + std::to_string(version_) +
                                                " of the fenced register, having read " +
                                                std::to_string(v.version));
    }
    ++version_;
}

}  // namespace holdfast::sim
