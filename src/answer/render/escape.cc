// SPDX-License-Identifier: MIT
#include "answer/render/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/json.h"
#include "base/lower_case.h"

namespace paceline::answer {
namespace {

std::string valid_utf8(std::string_view text) {
  const std::string dumped =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return parsed_json(dumped).get<std::string>();
}

// A terminal, an editor or a browser may show what is written.
std::string visible(std::string_view text) {
  return without_controls(valid_utf8(text), "\n\t");
}

using Replacement = std::pair<char, std::string_view>;
constexpr std::array<Replacement, 5> kEntities{
    {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}}};

std::string replaced(std::string_view text, std::span<const Replacement> replacements) {
  std::string out;
  for (const char c : text) {
    const auto found = std::ranges::find(replacements, c, &Replacement::first);
    out += found == replacements.end() ? std::string_view(&c, 1) : found->second;
  }
  return out;
}

}  // namespace

std::string escape_html(std::string_view text) {
  return replaced(visible(text), kEntities);
}

std::string escape_xml(std::string_view text) {
  return escape_html(text);
}

std::string escape_markdown(std::string_view text) {
  static constexpr std::string_view kMarkup = "\\`*_[]|~";
  std::string out;
  for (const char c : replaced(visible(text), std::span(kEntities).first(3))) {
    if (kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c == '\n' || c == '\t' ? ' ' : c;
  }
  return out;
}

std::string html_id(std::string_view prefix, std::string_view text) {
  std::string id(prefix);
  for (const char c : text) {
    if (is_letter_or_digit(c) || c == '-' || c == '_')
      id += c;
    else
      id += fmt::format("-{:02x}", static_cast<unsigned char>(c));
  }
  return id;
}

}  // namespace paceline::answer
