// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <vector>

// Widths are in columns of a terminal; one code point is one column.
namespace paceline::report {

std::size_t display_width(std::string_view text);
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

// At most `width` columns; what is cut ends in "…".
std::string truncate(std::string_view text, std::size_t width);
// Cuts out of the middle: names that differ at their end stay apart.
std::string truncate_middle(std::string_view text, std::size_t width);

// Labels of one table, each at most so wide where that leaves them different from each other: what all of
// them have in common is cut first ("…"), and labels that would become equal stay whole.
std::vector<std::string> short_labels(const std::vector<std::string>& labels, std::size_t width);

// Lines of at most `width` columns, broken at blanks; a longer word stands alone.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

// Control characters are spelled ("\x1b"): names come from users and must not steer a terminal.
std::string printable(std::string_view text);

// Typography a plain terminal can show: "±" to "+/-", "–" to "-"; anything else beyond ASCII to '?'.
std::string to_ascii(std::string_view text);

}  // namespace paceline::report
