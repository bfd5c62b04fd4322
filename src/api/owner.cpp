#include <charconv>

#include "holdfast/detail/utf8.hpp"
#include "holdfast/duration.hpp"
#include "holdfast/lease.hpp"
#include "kinds/owners.hpp"

namespace holdfast {
namespace {

constexpr std::size_t random_digits = 40;

bool has_our_shape(std::string_view owner) {
    if (!kinds::is_owner(owner)) return false;
    const auto digits = owner.substr(kinds::owner_start_bytes, random_digits);
    return digits.size() == random_digits &&
           digits.find_first_not_of("0123456789abcdef") == digits.npos &&
           owner.substr(kinds::owner_start_bytes + random_digits, 1) == ":";
}

}  // namespace

holder parse_owner(std::string owner) {
    holder result;
    if (has_our_shape(owner)) {
        const auto fields =
            std::string_view(owner).substr(kinds::owner_start_bytes + random_digits + 1);
        const auto who = fields.substr(0, fields.find(':'));
        const auto rest = fields.substr(std::min(who.size() + 1, fields.size()));
        const auto pid = rest.substr(0, rest.find(':'));
        const auto at = std::min(who.rfind('@'), who.size());
        result.user = who.substr(0, at);
        result.host = who.substr(std::min(at + 1, who.size()));
        std::from_chars(pid.data(), pid.data() + pid.size(), result.pid);
        result.label = rest.substr(std::min(pid.size() + 1, rest.size()));
        result.reads = kinds::is_read_by(owner);
        result.several = kinds::has_several(owner);
        result.leads = kinds::is_led_by(owner);
    }
    result.owner = std::move(owner);
    return result;
}

std::string holder::describe() const {
    if (quarantine) {
        std::string words = "nobody: the server is in quarantine";
        if (!remaining) return words;
        const auto left = std::chrono::ceil<std::chrono::seconds>(*remaining);
        return words + " for another " + format_duration(left);
    }
    if (foreign()) return "another library";
    const std::string named = label.empty() ? "" : " (" + label + ")";
    const std::string first = reads ? "readers, the first of them " : "";
    const std::string others = several ? ", along with other keys" : "";
    return detail::printable(first + user + "@" + host + ", process " + std::to_string(pid) +
                             named + others);
}

}  // namespace holdfast
