#pragma once

#include <cstdint>
#include <vector>

#include "core/fencing_token.hpp"
#include "sim/check/checkers.hpp"

namespace holdfast::sim {

/// What the lock protects: a version that holders read, and write back one higher, some time
/// later, whether they still hold the lock or not. It refuses tokens below the highest it has seen,
/// and that alone must be enough for no update to be lost.
class fenced_register {
  public:
    fenced_register(world& in, checkers& watched) : world_(in), checkers_(watched) {}

    void visit(holder_id who, core::fencing_token token, instant from, random& chance);

    void read(std::uint32_t visit);
    void write(std::uint32_t visit);

  private:
    struct visitor {
        holder_id who = 0;
        core::fencing_token token{};
        core::duration thinks{};
        std::uint64_t version = 0;
    };

    world& world_;
    checkers& checkers_;
    std::vector<visitor> visitors_;
    core::fencing_token fence_{};
    std::uint64_t version_ = 0;
};

}  // namespace holdfast::sim
