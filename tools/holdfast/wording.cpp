#include "wording.hpp"

#include <array>

#include "holdfast/error.hpp"

namespace holdfast::tool {
namespace {

struct pair {
    std::string_view first, second;
};

/// What a setting of the library is called here.
constexpr std::array<pair, 6> names{
    {{"tls.ca_file", "--cacert"},
     {"tls.server_name", "--sni"},
     {"tls.certificate_file", "--cert"},
     {"tls.key_file", "--key"},
     {"set allow_eviction", "give --allow-eviction"},
     {"options::max_ttl or max_ttl in the URL", "max_ttl in the URL"}}};

/// What to do about an answer that begins so.
constexpr std::array<pair, 3> remedies{
    {{"NOAUTH", "give the password by --password-file or REDISCLI_AUTH"},
     {"WRONGPASS", "see --user, --password-file and REDISCLI_AUTH"},
     {"ERR invalid password", "see --password-file and REDISCLI_AUTH"}}};

}  // namespace

std::string in_our_words(std::string_view message) {
    std::string text(message);
    for (const auto& [theirs, ours] : names) {
        for (auto at = text.find(theirs); at != text.npos; at = text.find(theirs, at)) {
            text.replace(at, theirs.size(), ours);
            at += ours.size();
        }
    }
    return text;
}

std::string in_our_words(const std::system_error& error) {
    std::string text = in_our_words(error.what());
    if (error.code() == errc::other_max_ttl) {
        return text.append(
            ", or 'holdfast enlist --fresh' with the new one while nobody holds a lock");
    }
    if (error.code() == errc::other_limit) {
        return text.append("; give that number, or change it: 'holdfast limit --permits N KEY'");
    }
    if (error.code() == errc::unsafe_server && text.find("READONLY") != text.npos) {
        return text.append("; it is a replica: give the address of its master");
    }
    if (error.code() == errc::permission) {
        // doctor cannot know which keys are locked.
        const auto about = text.find("permissions to access");
        if (about != text.npos && text.find("key", about) != text.npos) {
            return text.append(
                "; a user needs patterns for the keys that it locks (~KEY), and ~holdfast:*");
        }
        return text.append("; 'holdfast doctor' shows which rights are missing");
    }
    if (error.code() == errc::wrong_type && text.find("no lock") != text.npos) {
        return text.substr(0, text.rfind(": " + error.code().message()));
    }
    if (error.code() != errc::authentication) return text;
    for (const auto& [answer, remedy] : remedies) {
        if (text.find(answer) != text.npos) return text.append("; ").append(remedy);
    }
    return text;
}

}  // namespace holdfast::tool
