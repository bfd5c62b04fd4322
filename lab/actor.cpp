#include "lab/actor.hpp"

#include <csignal>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace holdfast::lab {
namespace {

constexpr milliseconds patience{20'000};  // far above what any answer takes
constexpr milliseconds look_around{5};

/// The same program, which is a client of the lab when called like this.
test::process_options command_of(const actor::cast& role, const tap& network) {
    test::process_options options{
        .arguments = {std::filesystem::read_symlink("/proc/self/exe").native(), "--client",
                      std::string(role.scheme.name)},
        .environment = role.environment,
        .input = test::redirect::pipe(),
        .output = test::redirect::pipe(),
        .error = test::redirect::null(),
    };
    for (std::size_t n = 0; n < role.servers.size(); ++n) {
        options.arguments.push_back(std::to_string(network.port(n)));
    }
    return options;
}

outcome read_outcome(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    std::string rest;
    words >> verb >> std::ws;
    std::getline(words, rest);
    if (verb == "denied") return {standing::denied, {}, {}, {}};
    if (verb != "held") return {standing::failed, {}, rest, {}};
    if (rest == "-") return {standing::held, {}, {}, {}};
    return {standing::held, std::stoull(rest), {}, {}};
}

std::string in_words(const outcome& result) {
    switch (result.value) {
        case standing::held:
            return "holds the lock" +
                   (result.token ? ", with token " + std::to_string(*result.token) : "");
        case standing::denied: return "is turned away";
        case standing::failed: return "fails: " + result.why;
    }
    return "";
}

}  // namespace

actor::actor(const cast& role, const std::string& key, journal& story, std::stop_token stop)
    : name_(role.name),
      story_(story),
      stop_(std::move(stop)),
      network_(role.name, key, role.servers, story),
      process_(command_of(role, network_)) {
    order("connect");
    answer();  // what keeps it from connecting, if anything, is part of the story
}

outcome actor::acquire(const std::string& key, milliseconds ttl) {
    begin_acquire(key, ttl);
    return finish();
}

void actor::release(const std::string& key) {
    begin_release(key);
    answer();
}

bool actor::believes() {
    order("believes");
    return answer() == "yes";
}

void actor::begin_acquire(const std::string& key, milliseconds ttl) {
    order("acquire " + key + " " + std::to_string(ttl.count()));
}

void actor::begin_release(const std::string& key) { order("release " + key); }

bool actor::settle() {
    while (!answered(look_around)) {
        if (network_.at_the_gate()) return answered(milliseconds(0));
    }
    return true;
}

outcome actor::finish() {
    outcome result = read_outcome(answer());
    result.at = story_.elapsed();
    story_.step(name_ + " " + in_words(result));
    return result;
}

void actor::crash() {
    process_.kill(SIGKILL);
    process_.wait(patience);
}

void actor::pause() { process_.pause(); }
void actor::resume() { process_.resume(); }

void actor::order(const std::string& line) {
    answer_.reset();
    process_.write(line + "\n");
}

std::string actor::answer() {
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (!answered(look_around)) {
        if (!process_.running() || std::chrono::steady_clock::now() > give_up) {
            throw std::runtime_error(name_ + " does not answer");
        }
    }
    return *answer_;
}

bool actor::answered(milliseconds bound) {
    if (stop_.stop_requested()) throw interrupted{};
    if (!answer_) answer_ = process_.read_line(bound);
    return answer_.has_value();
}

}  // namespace holdfast::lab
