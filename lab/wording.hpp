#pragma once

#include <string>
#include <string_view>

/// How a story shows what went over the wire: whole where it is short, recognisable where not.
namespace holdfast::lab {

/// One command, an array of bulk strings. Scripts appear by name, or by how they begin.
std::string command_in_words(std::string_view frame);
/// One answer.
std::string answer_in_words(std::string_view frame);
/// Whether the command has an argument that contains `key`: what else a client says when it
/// connects is no part of the story.
bool mentions(std::string_view command, std::string_view key);
/// Whether it may change the lock.
bool writes(std::string_view command);

}  // namespace holdfast::lab
