#include "support/redis_server.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "support/eventually.hpp"

namespace holdfast::test {

namespace {

using namespace std::chrono_literals;

// The administrator that query() speaks as. It keeps working when a test sets a password or takes
// rights away from the default user.
constexpr auto administrator = "holdfast-test-support";
constexpr auto administrator_password = "only-for-tests";

constexpr auto start_bound = 20s;  // far above the usual 20 ms: sanitizers, loaded machines
constexpr auto stop_bound = 20s;

std::string default_program() {
    const char* chosen = std::getenv("HOLDFAST_TEST_SERVER");
    return chosen != nullptr && *chosen != '\0' ? chosen : "redis-server";
}

/// The next one of `programs`, which colons separate: a quorum gets different ones.
std::string next_of(const std::string& programs) {
    static std::atomic<std::ptrdiff_t> servers = 0;
    const auto count = std::count(programs.begin(), programs.end(), ':') + 1;
    std::istringstream text{programs};
    std::string program;
    for (auto n = servers++ % count; n >= 0; --n) std::getline(text, program, ':');
    return program;
}

}  // namespace

redis_server::redis_server(redis_options options) : options_{std::move(options)} {
    options_.program = next_of(options_.program.empty() ? default_program() : options_.program);
    if (options_.tls) tls_port_.emplace();
    if (options_.cluster) reserve_bus();
    write_configuration();
    start();
}

// Before Redis 7 it cannot be another one.
void redis_server::reserve_bus() {
    constexpr std::uint16_t distance = 10'000;
    for (int tries = 0; tries < 100; ++tries, port_ = port_reservation()) {
        if (port_.port() > UINT16_MAX - distance) continue;
        try {
            bus_port_.emplace(static_cast<std::uint16_t>(port_.port() + distance));
            return;
        } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): another pair, then
        }
    }
    throw std::runtime_error{"no two ports for a server of a cluster"};
}

redis_server::~redis_server() = default;

std::string redis_server::url() const { return "redis://127.0.0.1:" + std::to_string(port()); }

std::string redis_server::tls_url() const {
    return "rediss://127.0.0.1:" + std::to_string(tls_port());
}

std::string redis_server::unix_url() const { return "unix://" + socket_path().native(); }

std::string redis_server::log() const {
    std::ifstream file{directory_ / "server.log"};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void redis_server::write_configuration() const {
    std::ofstream file{directory_ / "redis.conf"};
    file << "bind 127.0.0.1\n"
         << "port " << port() << '\n'
         << "unixsocket " << socket_path().native() << '\n'
         << "dir " << directory_.path().native() << '\n'
         << "daemonize no\n"
         << "save \"\"\n"
         << "appendonly " << (options_.append_only ? "yes" : "no") << '\n'
         << "appendfsync always\n"
         << "user " << administrator << " on >" << administrator_password << " ~* +@all\n";
    if (!options_.password.empty()) file << "requirepass \"" << options_.password << "\"\n";
    if (options_.cluster) file << "cluster-enabled yes\n";
    if (const auto& tls = options_.tls) {
        file << "tls-port " << tls_port() << '\n'
             << "tls-cert-file " << tls->certificate.native() << '\n'
             << "tls-key-file " << tls->key.native() << '\n'
             << "tls-ca-cert-file " << tls->authority.native() << '\n'
             << "tls-auth-clients " << (tls->require_client_certificate ? "yes" : "no") << '\n';
    }
    // A Cluster's map has the TLS ports only if the servers speak it to each other, too.
    if (options_.cluster && options_.tls) {
        file << "tls-cluster yes\n"
             << "tls-replication yes\n"
             << "cluster-port " << bus_port() << '\n';
    }
    for (const std::string& line : options_.configuration) file << line << '\n';
    file.close();
    if (!file) throw std::runtime_error{"cannot write the configuration of " + options_.program};
}

void redis_server::configure(const std::vector<std::string>& lines) {
    options_.configuration.insert(options_.configuration.end(), lines.begin(), lines.end());
    write_configuration();
}

void redis_server::kill_hard() {
    if (!process_) return;
    process_->kill(SIGKILL);
    process_->wait(stop_bound);
    process_.reset();
}

void redis_server::stop() {
    if (!process_) return;
    process_->kill(SIGTERM);
    process_->resume();
    process_->wait(stop_bound);
    process_.reset();
}

void redis_server::pause() { process_.value().pause(); }

void redis_server::resume() { process_.value().resume(); }

void redis_server::restart(data fate) {
    if (fate == data::lost) {
        kill_hard();
        remove_data();
        start();
    } else if (running() && !options_.append_only) {
        restart_with_snapshot();
    } else {
        stop();
        start();
    }
}

void redis_server::restart_with_snapshot() {
    resume();
    command({"SAVE"});
    stop();
    start();
    // The server holds no data on disk otherwise: left there, the snapshot would come back from
    // the past after a later kill.
    remove_data();
}

void redis_server::remove_data() const {
    std::filesystem::remove_all(directory_ / "appendonlydir");
    std::filesystem::remove(directory_ / "appendonly.aof");  // before Redis 7
    std::filesystem::remove(directory_ / "dump.rdb");
}

void redis_server::start() {
    if (running()) return;
    launch();
    wait_until_ready();
}

void redis_server::launch() {
    process_options child{.arguments = {options_.program, (directory_ / "redis.conf").native()},
                          .environment = options_.environment,
                          .working_directory = directory_.path(),
                          .output = redirect::file(directory_ / "server.log"),
                          .error = redirect::file(directory_ / "server.log")};
    child.arguments.insert(child.arguments.end(), options_.arguments.begin(),
                           options_.arguments.end());
    process_.emplace(child);
}

/// An answer on the unix socket means that the TCP ports are listened on too: the server opens
/// them first, and exits if it cannot.
void redis_server::wait_until_ready() {
    const bool decided = eventually(start_bound, [&] { return answers() || !running(); });
    if (decided && running()) return;
    const std::string reason = decided ? " exited at once" : " does not answer";
    throw std::runtime_error{options_.program + reason + "; its log:\n" + log()};
}

bool redis_server::answers() const {
    try {
        return to_string(query({"PING"})) == "PONG";  // else it is still loading its data
    } catch (const std::runtime_error&) {
        return false;
    }
}

reply redis_server::query(const std::vector<std::string>& arguments) const {
    raw_client client = raw_client::connect_unix(socket_path());
    reply greeting = client.command({"AUTH", administrator, administrator_password});
    if (greeting.is_error()) return greeting;
    return client.command(arguments);
}

std::string redis_server::command(const std::vector<std::string>& arguments) const {
    const reply answer = query(arguments);
    if (!answer.is_error()) return to_string(answer);
    throw std::runtime_error{arguments.front() + " on " + url() + ": " + answer.text};
}

std::optional<std::string> redis_server::get(const std::string& key) const {
    const reply answer = query({"GET", key});
    if (answer.is_error()) throw std::runtime_error{"GET " + key + ": " + answer.text};
    if (answer.is_nil()) return std::nullopt;
    return answer.text;
}

bool redis_server::exists(const std::string& key) const { return command({"EXISTS", key}) == "1"; }

std::int64_t redis_server::pttl(const std::string& key) const {
    return std::stoll(command({"PTTL", key}));
}

}  // namespace holdfast::test
