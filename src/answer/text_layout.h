// SPDX-License-Identifier: MIT
// Measures and wraps text for a terminal, in columns; one code point is one column.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace paceline::answer {

std::size_t display_width(std::string_view text);
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

// At most `width` columns; a cut text ends in "…".
std::string truncate(std::string_view text, std::size_t width);
// Cuts out of the middle, so that names with different ends stay distinct.
std::string truncate_middle(std::string_view text, std::size_t width);

// Labels of one table without the words that all of them have, which are above it.
struct SharedLabels {
  std::string shared;            // "resnet50 · b256 · cuda"; empty: they share nothing
  std::vector<std::string> own;  // none is empty
};
SharedLabels split_shared(const std::vector<std::string>& labels);

// Shortens the labels of one table to `width` where they stay distinct: their common beginning is cut first
// ("…"), and labels that would become equal stay whole.
std::vector<std::string> short_labels(const std::vector<std::string>& labels, std::size_t width);

// Lines of at most `width` columns, broken at blanks; a longer word has its own line.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

// One line as several of at most `width` columns, those after the first two columns further right. Blanks
// within a part stay, since they align figures.
std::string fold(std::string_view line, std::size_t width);

// Replaces typography for a plain terminal: "±" by "+/-", "–" by "-"; anything else beyond ASCII by '?'.
std::string to_ascii(std::string_view text);

}  // namespace paceline::answer
