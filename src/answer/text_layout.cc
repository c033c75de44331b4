// SPDX-License-Identifier: MIT
#include "answer/text_layout.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace paceline::answer {
namespace {

bool starts_code_point(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kPlain{{
    {"±", "+/-"},
    {"–", "-"},
    {"—", "-"},
    {"−", "-"},
    {"…", "..."},
    {"µ", "u"},
    {"×", "x"},
    {"→", "->"},
    {"·", "-"},
}};

std::string_view plain_of(std::string_view code_point) {
  for (const auto& [from, to] : kPlain)
    if (from == code_point) return to;
  return "?";
}

// Number of bytes of the first `count` code points.
std::size_t bytes_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (starts_code_point(text[at]) && count-- == 0) break;
  return at;
}

using Words = std::vector<std::string>;

// The words of all labels by position; a single column of whole labels where their numbers of words differ.
std::vector<Words> columns_of(const Words& labels) {
  std::vector<Words> rows;
  for (const auto& label : labels) rows.push_back(split(label, ' '));
  const bool alike =
      std::ranges::all_of(rows, [&](const Words& row) { return row.size() == rows[0].size(); });
  if (!alike) return {labels};
  std::vector<Words> columns(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t at = 0; at < row.size(); ++at) columns[at].push_back(row[at]);
  return columns;
}

Words joined(const std::vector<Words>& columns, std::size_t rows) {
  Words labels(rows);
  for (const Words& column : columns)
    for (std::size_t at = 0; at < rows; ++at)
      labels[at] += (&column == &columns.front() ? "" : " ") + column[at];
  return labels;
}

std::size_t widest_of(const Words& labels) {
  std::size_t widest = 0;
  for (const auto& label : labels) widest = std::max(widest, display_width(label));
  return widest;
}

// The words of the first that all others have as well, as often as they have them.
Words words_in_all(const std::vector<Words>& rows) {
  Words shared = rows.front();
  for (const Words& row : rows) {
    Words left = row;
    std::erase_if(shared, [&](const std::string& word) {
      const auto found = std::ranges::find(left, word);
      if (found == left.end()) return true;
      left.erase(found);
      return false;
    });
  }
  return shared;
}

Words without(Words row, const Words& shared) {
  for (const auto& word : shared) row.erase(std::ranges::find(row, word));
  return row;
}

// Number of leading bytes that all words share, ending before a code point.
std::size_t common_bytes(const Words& words) {
  std::size_t length = words[0].size();
  for (const auto& word : words) {
    const auto same = std::ranges::mismatch(word, words[0]).in1 - word.begin();
    length = std::min(length, static_cast<std::size_t>(same));
  }
  while (length > 0 && length < words[0].size() && !starts_code_point(words[0][length])) --length;
  return length;
}

// Cuts up to `excess` code points from the common beginning of the words; returns how many.
std::size_t cut_common(Words& words, std::size_t excess) {
  constexpr std::size_t kKept = 6;  // of the common part, so that it is still recognisable
  const std::string common = words[0].substr(0, common_bytes(words));
  const std::size_t length = display_width(common);
  if (excess == 0 || length <= kKept + 1) return 0;
  const std::size_t gone = std::min(excess, length - kKept - 1);
  const std::string shorter = truncate_middle(common, length - gone);
  for (auto& word : words) word = shorter + word.substr(common.size());
  return gone;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_code_point));
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(width > used ? width - used : 0, ' ') + std::string(text);
}

std::string truncate(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(text.substr(0, bytes_of(text, width - 1))) + "…";
}

std::string truncate_middle(std::string_view text, std::size_t width) {
  const std::size_t all = display_width(text), tail = width / 2;
  if (all <= width || tail == 0) return truncate(text, width);
  return truncate(text, width - tail) + std::string(text.substr(bytes_of(text, all - tail)));
}

SharedLabels split_shared(const std::vector<std::string>& labels) {
  if (labels.size() < 2) return {{}, labels};
  std::vector<Words> rows;
  for (const auto& label : labels) rows.push_back(split(label, ' '));
  auto shared = words_in_all(rows);
  const bool bare = std::ranges::any_of(rows, [&](const Words& row) { return row.size() == shared.size(); });
  if (bare && !shared.empty()) shared.erase(shared.begin());  // a row keeps a name
  SharedLabels result{join(shared, " · "), {}};
  for (auto& row : rows) result.own.push_back(join(without(std::move(row), shared), " "));
  return result;
}

std::vector<std::string> short_labels(const std::vector<std::string>& labels, std::size_t width) {
  const std::size_t widest = widest_of(labels);
  if (widest <= width) return labels;
  auto columns = columns_of(labels);
  std::size_t excess = widest - width;
  for (auto& column : columns) excess -= cut_common(column, excess);
  auto cut = joined(columns, labels.size());
  for (std::size_t at = 0; at < labels.size(); ++at)
    cut[at] = display_width(labels[at]) <= width ? labels[at] : truncate_middle(cut[at], width);
  std::vector<std::string> shown;
  for (std::size_t at = 0; at < labels.size(); ++at) {
    const bool distinct = std::ranges::count(cut, cut[at]) == std::ranges::count(labels, labels[at]);
    shown.push_back(distinct ? cut[at] : labels[at]);
  }
  return shown;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (const std::string& word : split(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t used = display_width(lines.back());
    if (used > 0 && used + 1 + display_width(word) > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

namespace {

// The last blank behind `first` that leaves at most `room` columns before it, else the first one there.
std::size_t break_of(std::string_view line, std::size_t first, std::size_t room) {
  std::size_t at = line.npos, columns = 0;
  for (std::size_t i = 0; i < line.size() && columns <= room; ++i) {
    if (line[i] == ' ' && i > first) at = i;
    if ((static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80U) ++columns;
  }
  return at == line.npos ? line.find(' ', first + 1) : at;
}

}  // namespace

std::string fold(std::string_view line, std::size_t width) {
  std::string out;
  const auto first = std::min(line.find_first_not_of(' '), std::size_t{40});
  const std::string indent(first + 2, ' ');
  while (display_width(line) + (out.empty() ? 0 : indent.size()) > width) {
    const auto at =
        break_of(line, out.empty() ? first : 0, width - std::min(width, out.empty() ? 0 : indent.size()));
    if (at == std::string_view::npos) break;
    out += (out.empty() ? "" : indent) + std::string(line.substr(0, at)) + "\n";
    line.remove_prefix(std::min(line.find_first_not_of(' ', at), line.size()));
  }
  return out + (out.empty() ? "" : indent) + std::string(line);
}

std::string to_ascii(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::max<std::size_t>(1, bytes_of(text.substr(at), 1));
    const std::string_view code_point = text.substr(at, length);
    plain += static_cast<unsigned char>(text[at]) < 0x80 ? code_point : plain_of(code_point);
    at += length;
  }
  return plain;
}

}  // namespace paceline::answer
