#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/redis_server.hpp"

namespace holdfast::test {

/// The connections that a server has from clients that gave themselves this name: the fields of
/// CLIENT LIST.
inline std::vector<std::map<std::string, std::string>> connections_named(const redis_server& server,
                                                                         const std::string& name) {
    std::vector<std::map<std::string, std::string>> found;
    std::istringstream lines(server.command({"CLIENT", "LIST"}));
    for (std::string line; std::getline(lines, line);) {
        std::map<std::string, std::string> fields;
        std::istringstream words(line);
        for (std::string word; words >> word;) {
            const auto equals = word.find('=');
            if (equals != word.npos) fields[word.substr(0, equals)] = word.substr(equals + 1);
        }
        if (fields["name"] == name) found.push_back(std::move(fields));
    }
    return found;
}

/// Closes them, as an administrator would. Returns how many there were.
inline std::size_t kill_connections(const redis_server& server, const std::string& name) {
    const auto found = connections_named(server, name);
    for (const auto& fields : found) server.query({"CLIENT", "KILL", "ID", fields.at("id")});
    return found.size();
}

}  // namespace holdfast::test
