#include <csignal>
#include <string>

#include "commands.hpp"
#include "connection.hpp"
#include "describe.hpp"
#include "exit_code.hpp"
#include "holdfast/client.hpp"
#include "interrupt.hpp"
#include "json.hpp"
#include "message.hpp"
#include "waiting.hpp"

namespace holdfast::tool {
namespace {

using namespace std::chrono_literals;

struct lock_options {
    wait_options wait;
    connection server;
    std::optional<std::chrono::milliseconds> ttl;
    std::string label;
    bool json = false;
    std::string key;

    [[nodiscard]] acquire_options lease() const {
        acquire_options how;
        how.ttl = ttl.value_or(30s);
        how.renew = false;
        how.label = label;
        return how;
    }
};

lock_options parse(arguments given) {
    lock_options options;
    command_line line("lock", "[OPTION...] KEY",
                      "Take the lock KEY and print its owner token, which renews and releases it. "
                      "Nobody renews it by itself: it is free again when the ttl is over.");
    line.heading("Locking");
    options.wait.declare(line);
    line.duration("--ttl", options.ttl, "How long the lock lives without 'renew' (default 30s)");
    line.limited_text("--label", "TEXT", max_label_bytes, options.label,
                      "Shown to whoever asks who holds the lock");
    line.flag("--json", options.json, "Print key, owner, token, ttl_ms and valid_ms as JSON");
    options.server.declare(line);
    line.positional("KEY", options.key, true);
    line.note(
        "Exit codes: 0 the lock is ours, 75 somebody else has it, 69 the servers are in "
        "quarantine; others as in 'run --help'.");
    line.example("owner=$(holdfast lock -w 10s --ttl 5m deploy) || exit",
                 "Take it for five minutes");
    line.example("holdfast unlock --owner \"$owner\" deploy", "Give it back");
    line.parse(given);
    return options;
}

std::string as_json(const std::string& key, const lease& held, std::chrono::milliseconds ttl) {
    const auto valid = std::chrono::floor<std::chrono::milliseconds>(held.remaining());
    json_object object;
    object.add("key", key).add("owner", held.owner()).add("token", held.token());
    object.add("ttl_ms", std::int64_t{ttl.count()}).add("valid_ms", std::int64_t{valid.count()});
    return object.line();
}

int take(const lock_options& options) {
    const acquire_options how = options.lease();
    const holdfast::options settings = options.server.settings(how.ttl);
    signal_queue signals;
    client through(settings);
    const bool talk = ::isatty(STDERR_FILENO) != 0;
    wait_result waited = wait_for_lock(through, {{options.key}, lock_kind::exclusive, how},
                                       options.wait, signals, talk);
    if (waited.interrupted_by != 0) return exit_code::signal_base + waited.interrupted_by;
    if (!waited.held) {
        refuse_quarantine(through, {options.key}, waited);
        if (talk) say_who_has_it({options.key}, waited);
        return exit_code::not_acquired;
    }
    // Should nobody be there to read the token, the exception releases the lock on its way out.
    print(options.json ? as_json(options.key, *waited.held, how.ttl) : waited.held->owner() + "\n");
    waited.held->detach();
    return exit_code::done;
}

}  // namespace

int lock(arguments given) {
    const int code = take(parse(given));
    if (code == exit_code::signal_base + SIGINT) die_of_interrupt();
    return code;
}

}  // namespace holdfast::tool
