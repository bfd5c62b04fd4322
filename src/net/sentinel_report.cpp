#include "net/sentinel_report.hpp"

#include <algorithm>
#include <charconv>

#include "net/handshake.hpp"
#include "resp/encoder.hpp"

namespace holdfast::net {
namespace {

template <typename Number>
std::optional<Number> number_in(std::string_view text) {
    Number value{};
    const auto* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (text.empty() || error != std::errc{} || stopped != end) return std::nullopt;
    return value;
}

// It goes into messages, too.
bool is_host(std::string_view text) {
    constexpr std::size_t longest = 255;
    return !text.empty() && text.size() <= longest &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

}  // namespace

void append_ask_address(std::string& out, std::string_view master_name) {
    resp::append_command(out, {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_name});
}

void append_ask_group(std::string& out, std::string_view master_name) {
    resp::append_command(out, {"SENTINEL", "MASTER", master_name});
}

std::optional<sentinel_group::address> read_master_address(resp::view reply) {
    const auto host = reply.at(0);
    const auto port = reply.at(1);
    if (reply.is_error() || !host || !port || !is_host(host->text())) return std::nullopt;
    const auto number = number_in<std::uint16_t>(port->text());
    if (!number || *number == 0) return std::nullopt;
    return sentinel_group::address{.host = std::string(host->text()), .port = *number};
}

void read_group(resp::view reply, sentinel_report& report) {
    if (reply.is_error()) return;
    if (const auto replicas = number_in<std::uint32_t>(value_in(reply, "num-slaves"))) {
        report.members = std::size_t{*replicas} + 1;
    }
    report.epoch = number_in<std::uint64_t>(value_in(reply, "config-epoch"));
}

// `mymaster 10.0.0.1 6379 10.0.0.2 6379`: from where, and to where.
bool tells_of_switch(resp::view push, std::string_view master_name) {
    const auto what = push.at(0);
    const auto channel = push.at(1);
    const auto text = push.at(2);
    if (!what || !channel || !text) return false;
    return what->text() == "message" && channel->text() == switch_channel &&
           text->text().starts_with(std::string(master_name) + " ");
}

// `master0:name=main,status=ok,address=10.0.0.1:6379,slaves=2,sentinels=3`
std::string watched_masters(std::string_view info) {
    constexpr std::string_view label = "name=";
    std::string all;
    for (int n = 0;; ++n) {
        auto entry = info_field(info, "master" + std::to_string(n));
        if (!entry.starts_with(label)) return all;
        entry.remove_prefix(label.size());
        all += (all.empty() ? "'" : ", '") + std::string(entry.substr(0, entry.find(','))) + "'";
    }
}

}  // namespace holdfast::net
