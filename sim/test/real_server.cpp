#include "sim/test/real_server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace holdfast::sim {
namespace {

std::filesystem::path new_directory() {
    auto name = (std::filesystem::temp_directory_path() / "holdfast-sim-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot create " + name);
    return name;
}

pid_t start(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child != 0) return child;
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execvp("redis-server", arguments.data());
    _exit(127);
}

std::vector<std::string> alone_in(const std::filesystem::path& directory, const std::string& socket,
                                  const std::vector<std::string>& options) {
    std::vector<std::string> words{"redis-server", "--port", "0", "--unixsocket", socket, "--dir",
                                   directory,      "--save", "",  "--appendonly", "no"};
    words.insert(words.end(), options.begin(), options.end());
    return words;
}

// Sentinels write to the file that they are given.
std::vector<std::string> sentinel_in(const std::filesystem::path& directory,
                                     const std::string& socket, const std::string& master) {
    const auto file = directory / "sentinel.conf";
    std::ofstream(file) << "port 0\nunixsocket " << socket << "\ndir " << directory.string()
                        << "\nsentinel monitor " << master << " 127.0.0.1 1 1\n";
    return {"redis-server", file, "--sentinel"};
}

value converted(const redisReply& reply) {
    switch (reply.type) {
        case REDIS_REPLY_INTEGER: return value::integer(reply.integer);
        case REDIS_REPLY_STRING: return value::bulk({reply.str, reply.len});
        case REDIS_REPLY_STATUS: return value::status({reply.str, reply.len});
        case REDIS_REPLY_ERROR: return value::error({reply.str, reply.len});
        case REDIS_REPLY_ARRAY: {
            std::vector<value> items;
            for (std::size_t i = 0; i < reply.elements; ++i) {
                items.push_back(converted(*reply.element[i]));
            }
            return value::array(std::move(items));
        }
        default: return {};
    }
}

void append(redisContext& connection, const std::vector<std::string>& command) {
    std::vector<const char*> texts;
    std::vector<std::size_t> lengths;
    for (const auto& word : command) {
        texts.push_back(word.data());
        lengths.push_back(word.size());
    }
    redisAppendCommandArgv(&connection, static_cast<int>(command.size()), texts.data(),
                           lengths.data());
}

}  // namespace

real_server::real_server(const std::vector<std::string>& options) : directory_(new_directory()) {
    process_ = start(alone_in(directory_, socket(), options));
    wait_until_it_answers(socket());
}

real_server::real_server(const sentinel_of& master) : directory_(new_directory()) {
    process_ = start(sentinel_in(directory_, socket(), master.name));
    wait_until_it_answers(socket());
}

real_server::~real_server() {
    connection_.reset();
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

void real_server::wait_until_it_answers(const std::string& socket) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < limit) {
        connection_.reset(redisConnectUnix(socket.c_str()));
        if (connection_ && connection_->err == 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    throw std::runtime_error("redis-server did not answer on " + socket);
}

std::vector<value> real_server::execute(std::span<const std::vector<std::string>> commands) {
    for (const auto& command : commands) append(*connection_, command);
    std::vector<value> answers;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        void* reply = nullptr;
        if (redisGetReply(connection_.get(), &reply) != REDIS_OK) {
            throw std::runtime_error(connection_->errstr);
        }
        answers.push_back(converted(*static_cast<redisReply*>(reply)));
        freeReplyObject(reply);
    }
    return answers;
}

}  // namespace holdfast::sim
