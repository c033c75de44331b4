// SPDX-License-Identifier: MIT
#pragma once
#include <exception>
#include <string>
#include <string_view>

// Makes text of users, files and libraries fit to be shown to a person.
namespace paceline {

inline constexpr std::size_t kMaxShownValue = 80, kMaxShownPath = 300, kMaxShownLine = 2000;  // bytes

// Writes control characters (C0, C1, and those that change the direction of text) as "\x1b", except those in
// `kept`: for all text that leaves the program.
std::string without_controls(std::string_view text, std::string_view kept);

// JSON text with the same characters as "\u009b": a reader gets what was written. Line ends and tabs stay.
std::string json_without_controls(std::string_view json);

// Text for a terminal, without control characters: line ends and tabs stay, lines longer than kMaxShownLine
// lose their middle.
std::string for_terminal(std::string_view text);

// Makes one line of it: line ends and tabs are spelled out, too.
std::string on_one_line(std::string_view text);

// A value inside a sentence: one line, at most `most` bytes, whole characters.
std::string shown_value(std::string_view text, std::size_t most = kMaxShownValue);

// A path inside a sentence: one line, without its middle where it is long.
std::string shown_path(std::string_view path);

// An exception's message without the mark of the library ("[json.exception.parse_error.101]"). Of refused
// memory, processes or threads: what that means.
std::string plain_reason(const std::exception& error);

}  // namespace paceline
