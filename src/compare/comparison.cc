// SPDX-License-Identifier: MIT
#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace paceline::compare {
namespace {

struct PairingRow {
  std::string_view name, words;
};
constexpr std::array kPairings{PairingRow{"in_turns", "both processes of a pair in turns"},
                               PairingRow{"alternating", "one process after the other, A B B A"},
                               PairingRow{"apart", "at different times"}};

}  // namespace

std::string_view pairing_name(Pairing pairing) {
  return kPairings.at(static_cast<std::size_t>(pairing)).name;
}

std::string_view pairing_words(Pairing pairing) {
  return kPairings.at(static_cast<std::size_t>(pairing)).words;
}

std::string blocked_by(const Comparison& comparison) {
  if (comparison.control && comparison.control->moved)
    return "the control moved, which neither side can change, so the machine did";
  if (comparison.allow_env_diff) return {};
  std::vector<std::string> names;
  for (const auto& one : comparison.environment)
    if (one.blocks && std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
  constexpr std::size_t kShown = 3;
  if (names.empty()) return {};
  const auto more = names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "";
  names.resize(std::min(names.size(), kShown));
  return fmt::format("the sides differ in {}{}", join(names, ", "), more);
}

std::vector<const Figure*> deciding(const ComparedCase& one) {
  std::vector<const Figure*> figures;
  for (const auto& figure : one.figures)
    if (figure.decides) figures.push_back(&figure);
  return figures;
}

}  // namespace paceline::compare
