// SPDX-License-Identifier: MIT
#include "report/escape.h"

#include <fmt/format.h>

#include <cctype>

namespace paceline::report {
namespace {

std::string valid_utf8(std::string_view text) {
  const std::string dumped =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(dumped).get<std::string>();
}

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

bool forbidden_in_xml(char c) {
  return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : valid_utf8(text)) {
    const std::string_view replaced = entity(c);
    if (replaced.empty())
      out += c;
    else
      out += replaced;
  }
  return out;
}

std::string escape_xml(std::string_view text) {
  std::string out = escape_html(text);
  std::erase_if(out, forbidden_in_xml);
  return out;
}

std::string escape_markdown(std::string_view text) {
  static constexpr std::string_view kMarkup = "\\`*_[]|~";
  std::string out;
  for (const char c : valid_utf8(text)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {  // a terminal may show the document
      out += ' ';
      continue;
    }
    if (c == '<' || c == '>' || c == '&') {
      out += entity(c);
      continue;
    }
    if (kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string json_for_script(const nlohmann::json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else
      out += c;
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
