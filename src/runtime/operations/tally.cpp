#include "runtime/operations/tally.hpp"

#include <utility>

#include "net/explain.hpp"

namespace holdfast::runtime {

opinion read_answer(resp::view reply) {
    if (reply.is_error()) return net::explain(reply);
    return ballot::yes;
}

opinion opinion_of(kinds::ownership_answer said) {
    if (auto* const why = std::get_if<net::failure>(&said)) return std::move(*why);
    return std::get<kinds::ownership>(said) == kinds::ownership::ours ? ballot::yes : ballot::no;
}

}  // namespace holdfast::runtime
