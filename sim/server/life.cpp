#include "sim/server/life.hpp"

#include <utility>

namespace holdfast::sim {

void life::begin() {
    run_id_ = new_id();
    replica_ = connected_ = backlog_ = false;
    replicas_ = 0;
    new_replication_id();
}

void life::replica_attached() {
    ++replicas_;
    if (!std::exchange(backlog_, true)) new_replication_id();
}

void life::give_up_backlog() {
    replicas_ = 0;
    if (std::exchange(backlog_, false)) new_replication_id();
}

void life::resynchronised_in_full() {
    connected_ = backlog_ = true;
    new_replication_id();
}

void life::resynchronised_in_part() {
    connected_ = backlog_ = true;
    second_id_ = std::exchange(replication_id_, new_id());
}

void life::promoted() {
    replica_ = connected_ = false;
    second_id_ = std::exchange(replication_id_, new_id());
}

void life::new_replication_id() {
    replication_id_ = new_id();
    second_id_ = no_id;
}

std::string life::new_id() {
    std::string id;
    while (id.size() < no_id.size()) id += "0123456789abcdef"[chance_.below(16)];
    return id;
}

}  // namespace holdfast::sim
