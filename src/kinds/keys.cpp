#include "kinds/keys.hpp"

namespace holdfast::kinds {
namespace {

bool is_tagged(std::string_view lock) {
    const auto open = lock.find('{');
    const auto close = open == lock.npos ? lock.npos : lock.find('}', open + 1);
    return close != lock.npos && close > open + 1;
}

}  // namespace

bool shares_its_slot(std::string_view lock) {
    return is_tagged(lock) || lock.find('}') == lock.npos;
}

void append_key_beside(std::string& out, std::string_view lock, std::string_view what) {
    const bool has_tag = is_tagged(lock);
    out += own_keys;
    if (!has_tag) out += '{';
    if (has_tag) (out += what) += ':';
    out += lock;
    if (!has_tag) (out += "}:") += what;
}

std::string counter_key(std::string_view lock) {
    std::string name;
    append_key_beside(name, lock, "fence");
    return name;
}

std::string queue_key(std::string_view lock) {
    std::string name;
    append_key_beside(name, lock, "queue");
    return name;
}

std::string forced_key(std::string_view lock) {
    std::string name;
    append_key_beside(name, lock, "forced");
    return name;
}

}  // namespace holdfast::kinds
