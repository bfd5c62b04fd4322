#include "lab/hazards/overlap.hpp"

namespace holdfast::lab {
namespace {

std::string in_words(milliseconds at) { return std::to_string(at.count()) + " ms"; }

std::string order_of_tokens(const outcome& first, const outcome& second) {
    if (!first.token || !second.token) return "";
    if (*first.token >= *second.token) return "; and their tokens are out of order";
    return "; only their tokens tell the resource who is late";
}

}  // namespace

verdict judge_overlap(const hold& first, const hold& second) {
    if (!second.got.held()) {
        return safe(second.who.name() + " is turned away while " + first.who.name() + " holds");
    }
    if (!first.who.believes()) {
        return safe(first.who.name() + " knew that it had lost the lock when " + second.who.name() +
                    " got it");
    }
    return broken(first.who.name() + " holds since " + in_words(first.got.at) + ", and " +
                  second.who.name() + " too since " + in_words(second.got.at) +
                  order_of_tokens(first.got, second.got));
}

}  // namespace holdfast::lab
