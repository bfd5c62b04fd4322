#include "runtime/tally.hpp"

#include "net/explain.hpp"

namespace holdfast::runtime {

opinion read_answer(resp::view reply) {
    if (reply.is_error()) return net::explain(reply);
    return ballot::yes;
}

}  // namespace holdfast::runtime
