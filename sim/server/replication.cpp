#include "sim/server/replication.hpp"

namespace holdfast::sim {

transaction_pointer replication_log::close_transaction() {
    auto made = std::make_shared<transaction>();
    made->offset = offset_ + 1;
    made->effects = std::exchange(changes_, {});
    append(made);
    return made;
}

void replication_log::follow(const transaction_pointer& next) { append(next); }

void replication_log::append(transaction_pointer next) {
    offset_ = next->offset;
    backlog_.push_back(std::move(next));
    if (backlog_.size() > most_) backlog_.pop_front();
}

void replication_log::restart_at(std::int64_t offset) {
    offset_ = offset;
    backlog_.clear();
    changes_.clear();
}

std::optional<std::vector<transaction_pointer>> replication_log::since(std::int64_t offset) const {
    const auto first = offset_ - static_cast<std::int64_t>(backlog_.size());
    if (offset < first || offset > offset_) return std::nullopt;
    return std::vector<transaction_pointer>(backlog_.begin() + (offset - first), backlog_.end());
}

}  // namespace holdfast::sim
