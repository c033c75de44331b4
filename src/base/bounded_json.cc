// SPDX-License-Identifier: MIT
#include "base/bounded_json.h"

#include <fmt/format.h>

#include "base/foreign_text.h"

namespace paceline {
namespace {

using Json = nlohmann::json;

struct Excess {
  std::size_t at = 0;  // byte
  std::string why;     // empty: none
};

// Behind the string that begins at `at`.
std::size_t behind_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at;
}

// Counts brackets and commas outside of strings, without building anything.
Excess excess_in(std::string_view text) {
  std::size_t depth = 0;
  std::uint64_t values = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') at = behind_string(text, at);
    if (c == ']' || c == '}') depth -= depth > 0 ? 1 : 0;
    if (c == '[' || c == '{') ++depth, ++values;
    if (c == ',') ++values;
    if (depth > kMostNested) return {at, fmt::format("nested deeper than {} levels", kMostNested)};
    if (values > kMostValues) return {at, fmt::format("more than {} values", kMostValues)};
  }
  return {};
}

}  // namespace

Json parsed_json(std::string_view text) {
  constexpr int kSyntax = 101;  // the library's number of such errors
  if (const auto excess = excess_in(text); !excess.why.empty())
    throw Json::parse_error::create(kSyntax, excess.at + 1, excess.why, nullptr);
  return Json::parse(text);
}

Json json_or_discarded(std::string_view text) {
  return excess_in(text).why.empty() ? Json::parse(text, nullptr, /*allow_exceptions=*/false)
                                     : Json(Json::value_t::discarded);
}

}  // namespace paceline
