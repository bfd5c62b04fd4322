#include "sim/server/life.hpp"

#include <utility>

namespace holdfast::sim {

void life::begin() {
    run_id_ = new_id();
    replica_ = connected_ = backlog_ = false;
    replicas_ = 0;
    new_replication_id(new_id());
}

void life::replica_attached() {
    ++replicas_;
    if (!std::exchange(backlog_, true)) new_replication_id(new_id());
}

void life::give_up_backlog() {
    replicas_ = 0;
    if (std::exchange(backlog_, false)) new_replication_id(new_id());
}

void life::resynchronised_in_full(const std::string& id) {
    connected_ = backlog_ = true;
    new_replication_id(id.empty() ? new_id() : id);
}

// A master that is still the one that it was followed before has no other id.
void life::resynchronised_in_part(const std::string& id, std::int64_t offset) {
    connected_ = backlog_ = true;
    if (id != replication_id_) shift_replication_id(id.empty() ? new_id() : id, offset);
}

void life::promoted(std::int64_t offset) {
    replica_ = connected_ = false;
    shift_replication_id(new_id(), offset);
}

void life::new_replication_id(std::string id) {
    replication_id_ = std::move(id);
    second_id_ = no_id;
    second_offset_ = -1;
}

void life::shift_replication_id(std::string id, std::int64_t offset) {
    second_id_ = std::exchange(replication_id_, std::move(id));
    second_offset_ = offset + 1;
}

std::string life::new_id() {
    std::string id;
    while (id.size() < no_id.size()) id += "0123456789abcdef"[chance_.below(16)];
    return id;
}

}  // namespace holdfast::sim
