// SPDX-License-Identifier: MIT
// Parses, splits and compares text: strict numbers, nearest name.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
// The index of a text in `texts`, to which a new one is added.
std::size_t place_of(const std::string& text, std::vector<std::string>& texts);
std::string_view trim(std::string_view text);
// The words, ended by one mark: a library's own message may end with one. Empty stays empty.
std::string as_sentence(std::string words);
bool is_utf8(std::string_view text);

// Levenshtein distance in which a transposition counts as one step.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate most similar to `word`; none when nothing is close.
std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> candidates);

// Whole-string conversions without leading '+', blanks, octal, nan or inf; empty for anything else.
std::optional<long long> parse_int(std::string_view text);
std::optional<double> parse_double(std::string_view text);

}  // namespace paceline
