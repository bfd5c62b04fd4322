#include "runtime/owner_token.hpp"

#include <pwd.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace holdfast::runtime {
namespace {

constexpr std::size_t random_digits = 40;

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
    return name.data();
}

std::string user_name() {
    std::array<char, 4096> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
    return found != nullptr ? found->pw_name : std::to_string(::geteuid());
}

}  // namespace

const std::uint8_t* entropy::draw(std::size_t bytes) {
    if (block_.size() - used_ < bytes) refill();
    used_ += bytes;
    return block_.data() + used_ - bytes;
}

void entropy::refill() {
    for (std::size_t filled = 0; filled < block_.size();) {
        const auto got = ::getrandom(block_.data() + filled, block_.size() - filled, 0);
        if (got < 0 && errno != EINTR) {
            throw std::system_error(errno, std::generic_category(), "getrandom");
        }
        filled += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    used_ = 0;
}

std::uint64_t entropy::bits64() {
    std::uint64_t bits = 0;
    std::memcpy(&bits, draw(sizeof bits), sizeof bits);
    return bits;
}

void entropy::hex(char* out, std::size_t digits) {
    static constexpr std::string_view alphabet = "0123456789abcdef";
    const auto* const bytes = draw(digits / 2);
    for (std::size_t n = 0; n < digits / 2; ++n) {
        out[2 * n] = alphabet[bytes[n] >> 4U];
        out[2 * n + 1] = alphabet[bytes[n] & 15U];
    }
}

// Colons separate the fields, and a token should stay on its line in a log.
std::string plain(std::string text) {
    std::replace_if(
        text.begin(), text.end(),
        [](char c) { return c == ':' || static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '_');
    return text;
}

std::string signature() {
    static const std::string who = ":" + plain(user_name()) + "@" + plain(host_name()) + ":";
    return who + std::to_string(::getpid()) + ":";
}

std::string make_owner_token(entropy& chance, std::string_view signature, std::string_view label) {
    constexpr std::string_view version = "hf1:";
    std::string token;
    token.reserve(version.size() + random_digits + signature.size() + label.size());
    token += version;
    token.resize(version.size() + random_digits);
    chance.hex(token.data() + version.size(), random_digits);
    token += signature;
    token += label;
    return token;
}

}  // namespace holdfast::runtime
