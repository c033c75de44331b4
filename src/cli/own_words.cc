// SPDX-License-Identifier: MIT
#include "cli/own_words.h"

#include <algorithm>

#include "config/option_table.h"

namespace paceline::cli {
namespace {

const config::Option* own_option(const std::string& word, unsigned command,
                                 std::span<const std::string_view> options) {
  if (word.size() < 2 || word.front() != '-') return nullptr;
  const auto* option = config::find_flag(word.substr(0, word.find('=')), command);
  return option && std::ranges::find(options, option->name) != options.end() ? option : nullptr;
}

// Appends a flag with its value, which may look like a flag itself, and returns the number of words.
std::size_t take_flag(std::span<const std::string> words, std::size_t at, const config::Option& option,
                      std::vector<std::string>& to) {
  const bool has_value = option.type != config::OptionType::kBoolean;
  if (!has_value || words[at].find('=') != std::string::npos || at + 1 == words.size()) {
    to.push_back(words[at]);
    return 1;
  }
  // A side of a comparison may have no words besides the common ones.
  if (!words[at + 1].empty()) to.push_back(words[at] + "=" + words[at + 1]);
  return 2;
}

}  // namespace

SplitWords split_own_words(std::span<const std::string> words, unsigned command,
                           std::span<const std::string_view> options) {
  SplitWords split;
  for (std::size_t i = 0; i < words.size();) {
    if (const auto* option = own_option(words[i], command, options)) {
      i += take_flag(words, i, *option, split.own);
    } else {
      split.others.push_back(words[i++]);
    }
  }
  return split;
}

}  // namespace paceline::cli
