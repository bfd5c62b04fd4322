#include "lab/worker.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "lab/scheme.hpp"

namespace holdfast::lab {
namespace {

std::string answer_to_acquire(scheme& lock, const std::string& key, milliseconds ttl) {
    const auto granted = lock.acquire(key, ttl);
    if (!granted) return "denied";
    return "held " + (granted->token ? std::to_string(*granted->token) : "-");
}

std::string answer(scheme& lock, std::istringstream words) {
    std::string verb;
    std::string key;
    milliseconds::rep ttl = 0;
    words >> verb >> key >> ttl;
    if (verb == "acquire") return answer_to_acquire(lock, key, milliseconds(ttl));
    if (verb == "believes") return lock.believes() ? "yes" : "no";
    if (verb == "connect") return lock.connect(), "connected";
    if (verb == "release") return lock.release(key), "released";
    throw std::invalid_argument("no such order: " + verb);
}

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

}  // namespace

int serve_as_client(std::span<const std::string> arguments) {
    const scheme_entry* entry = arguments.empty() ? nullptr : find_scheme(arguments.front());
    if (entry == nullptr) throw std::invalid_argument("no such scheme");
    ports servers;
    for (const std::string& port : arguments.subspan(1)) {
        servers.push_back(static_cast<std::uint16_t>(std::stoul(port)));
    }
    // Never destroyed: threads that renew end with the process, as they do in the wild.
    scheme& lock = *entry->make(servers).release();
    for (std::string order; std::getline(std::cin, order);) {
        try {
            std::cout << answer(lock, std::istringstream(order)) << std::endl;
        } catch (const std::exception& error) {
            std::cout << "failed " << one_line(error.what()) << std::endl;
        }
    }
    std::_Exit(0);
}

}  // namespace holdfast::lab
