// SPDX-License-Identifier: MIT
#include "base/display_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/process_limit.h"

namespace paceline {
namespace {

// Number of bytes of the control character at `at`; 0: there is none.
std::size_t control_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(at) < 0x20 || byte(at) == 0x7F) return 1;
  if (byte(at) == 0xC2 && byte(at + 1) >= 0x80 && byte(at + 1) < 0xA0) return 2;  // C1
  if (byte(at) != 0xE2) return 0;
  const bool embeds = byte(at + 1) == 0x80 && byte(at + 2) >= 0xA8 && byte(at + 2) <= 0xAE;    // U+2028-202E
  const bool isolates = byte(at + 1) == 0x81 && byte(at + 2) >= 0xA6 && byte(at + 2) <= 0xA9;  // U+2066-2069
  return embeds || isolates ? 3 : 0;
}

// Decodes a UTF-8 character of at most three bytes.
unsigned code_point(std::string_view character) {
  const auto bits = [&](std::size_t i, unsigned mask) {
    return static_cast<unsigned char>(character[i]) & mask;
  };
  if (character.size() == 1) return bits(0, 0x7F);
  if (character.size() == 2) return bits(0, 0x1F) << 6 | bits(1, 0x3F);
  return bits(0, 0x0F) << 12 | bits(1, 0x3F) << 6 | bits(2, 0x3F);
}

std::string spelled(std::string_view control) {
  if (control == "\n") return "\\n";
  if (control == "\t") return "\\t";
  std::string out;
  for (const char c : control) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

bool inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

std::string without_middle(std::string_view line, std::size_t most) {
  if (line.size() <= most) return std::string(line);
  std::size_t begin = most * 3 / 4, end = line.size() - most / 4;
  while (begin > 0 && inside_character(line, begin)) --begin;
  while (inside_character(line, end)) ++end;
  return fmt::format("{} … ({} bytes left out) … {}", line.substr(0, begin), end - begin, line.substr(end));
}

}  // namespace

std::string without_controls(std::string_view text, std::string_view kept) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = control_length(text, at);
    const auto piece = text.substr(at, std::max<std::size_t>(length, 1));
    if (length == 0 || kept.find(piece) != std::string_view::npos)
      out += piece;
    else
      out += spelled(piece);
    at += piece.size();
  }
  return out;
}

std::string json_without_controls(std::string_view json) {
  std::string out;
  while (!json.empty()) {
    const auto at = std::min(json.find_first_of("\x7F\xC2\xE2"), json.size());  // JSON escapes C0 anyway
    const auto length = at < json.size() ? control_length(json, at) : 0;
    out += json.substr(0, at);
    json.remove_prefix(at);
    if (length > 0)
      out += fmt::format("\\u{:04x}", code_point(json.substr(0, length)));
    else
      out += json.substr(0, 1);
    json.remove_prefix(std::min(std::max<std::size_t>(length, 1), json.size()));
  }
  return out;
}

std::string for_terminal(std::string_view text) {
  const std::string clean = without_controls(text, "\n\t");
  std::string out;
  for (std::size_t begin = 0; begin < clean.size();) {
    const std::size_t end = std::min(clean.find('\n', begin), clean.size());
    out += without_middle(std::string_view(clean).substr(begin, end - begin), kMaxShownLine);
    if (end < clean.size()) out += '\n';
    begin = end + 1;
  }
  return out;
}

std::string on_one_line(std::string_view text) {
  return without_middle(without_controls(text, ""), kMaxShownLine);
}

std::string shown_value(std::string_view text, std::size_t most) {
  if (text.size() <= most) return without_controls(text, "");
  std::size_t end = most - 3;
  while (end > 0 && inside_character(text, end)) --end;
  return without_controls(text.substr(0, end), "") + "...";
}

std::string shown_path(std::string_view path) {
  return without_middle(without_controls(path, ""), kMaxShownPath);
}

std::string plain_reason(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error)) return "there is not enough memory";
  std::string_view text = error.what();
  if (lacks_processes(text)) return process_limit_words();
  if (text.starts_with("[json.exception.") && text.find("] ") != std::string_view::npos)
    text.remove_prefix(text.find("] ") + 2);
  return std::string(text);
}

}  // namespace paceline
