#include "sim/world/sentinel_host.hpp"

namespace holdfast::sim {

void sentinel_host::connect_arrives(stream& by) {
    if (up_) {
        by.session = sentinel_.open();
        by.life = life_;
        sessions_.resize(by.session + 1);
        sessions_[by.session] = &by;
    }
    network_.answer_connect(by, !up_);
}

void sentinel_host::bytes_arrive(stream& by) {
    const bool breaks = by.up.front().breaks_after;
    if (belongs_here(by)) {
        sentinel_.receive(by.session, by.up.front_bytes());
        if (breaks) {
            by.outbox.clear();
            network_.break_connection(by);
        }
        send_outboxes();
    } else {
        network_.break_connection(by);
    }
    by.up.pop();
}

void sentinel_host::close_arrives(stream& by) {
    if (belongs_here(by)) sentinel_.close(by.session);
}

void sentinel_host::crash() {
    up_ = false;
    ++life_;
    sentinel_.crash();
    network_.break_all_of(machine_);
}

void sentinel_host::learn(const sentinel::view& next) {
    sentinel_.learn(next);
    send_outboxes();
}

void sentinel_host::append(connection to, std::string_view bytes) {
    auto* const whose = to < sessions_.size() ? sessions_[to] : nullptr;
    if (whose == nullptr || whose->life != life_) return;
    if (whose->outbox.empty()) to_send_.push_back(whose);
    whose->outbox += bytes;
}

void sentinel_host::send_outboxes() {
    for (auto* const each : to_send_) {
        if (!each->outbox.empty()) network_.carry_down(*each, each->outbox, false);
        each->outbox.clear();
    }
    to_send_.clear();
}

}  // namespace holdfast::sim
