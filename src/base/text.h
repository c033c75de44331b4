// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::string_view trim(std::string_view text);
bool is_utf8(std::string_view text);
bool starts_with_any(std::string_view text, std::span<const std::string_view> prefixes);

// Levenshtein distance with transpositions counted as one step.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate a person who typed `word` probably meant; none when nothing is close.
std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> candidates);

// Whole-string conversions: no leading '+', no blanks, no octal, no nan or inf; empty on anything else.
std::optional<long long> parse_int(std::string_view text);
std::optional<double> parse_double(std::string_view text);

}  // namespace paceline
