// SPDX-License-Identifier: MIT
#include "config/open_sizes.h"

#include "base/lower_case.h"

namespace paceline::config {
namespace {

bool has(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

std::string symbol_of(const DeclaredInput& input, std::size_t dimension) {
  return dimension < input.symbols.size() ? input.symbols[dimension] : std::string();
}

std::int64_t example_size(const DeclaredInput& input, std::size_t dimension) {
  const auto symbol = symbol_of(input, dimension);
  const auto name = lower_case(symbol.empty() ? input.name : symbol);
  if (name.find("past") != std::string::npos) return 0;
  for (const auto* word : {"seq", "len", "token", "time"})
    if (name.find(word) != std::string::npos) return 128;
  const bool picture = input.shape->size() == 4 && dimension > 0;
  if (!picture) return 128;
  const bool channels_last = input.shape->back() == 3 || input.shape->back() == 1;
  return dimension == (channels_last ? 3U : 1U) ? 3 : 224;
}

std::optional<std::int64_t> mask_size(const DeclaredInput& input, std::size_t dimension,
                                      const SymbolSizes& sizes) {
  if (!has(lower_case(input.name), "mask") || dimension == 0) return std::nullopt;
  std::optional<std::int64_t> past, tokens;
  for (const auto& [symbol, size] : sizes) {
    const auto name = lower_case(symbol);
    const bool of_past = has(name, "past"),
               other = has(name, "total") || has(name, "mask") || has(name, "encoder");
    if (of_past) past = size;
    if (has(name, "seq") && !of_past && !other) tokens = size;
  }
  return past && tokens ? std::optional(*past + *tokens) : std::nullopt;
}

}  // namespace paceline::config
