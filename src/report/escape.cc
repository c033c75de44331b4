// SPDX-License-Identifier: MIT
#include "report/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

namespace paceline::report {
namespace {

std::string valid_utf8(std::string_view text) {
  const std::string dumped =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(dumped).get<std::string>();
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
  return replaced(valid_utf8(text), kEntities);
}

std::string escape_xml(std::string_view text) {
  std::string out = escape_html(text);
  std::erase_if(out, [](unsigned char c) { return c < 0x20 && c != '\t' && c != '\n' && c != '\r'; });
  return out;
}

std::string escape_markdown(std::string_view text) {
  static constexpr std::string_view kMarkup = "\\`*_[]|~";
  std::string out;
  for (const char c : replaced(valid_utf8(text), std::span(kEntities).first(3))) {
    if (kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;  // a terminal may show the document
  }
  return out;
}

std::string html_id(std::string_view prefix, std::string_view text) {
  std::string id(prefix);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_')
      id += c;
    else
      id += fmt::format("-{:02x}", byte);
  }
  return id;
}

}  // namespace paceline::report
