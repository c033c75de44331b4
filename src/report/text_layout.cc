// SPDX-License-Identifier: MIT
#include "report/text_layout.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/display_text.h"
#include "base/text.h"

namespace paceline::report {
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

// Bytes of the first `count` code points.
std::size_t bytes_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (starts_code_point(text[at]) && count-- == 0) break;
  return at;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
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

std::string printable(std::string_view text) {
  return on_one_line(text);
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

}  // namespace paceline::report
