// SPDX-License-Identifier: MIT
// Splits the words of a command that takes the options of another one besides its own.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::cli {

struct SplitWords {
  std::vector<std::string> own, others;
};

// `options`: names of the command's own options, which may have values that look like flags.
SplitWords split_own_words(std::span<const std::string> words, unsigned command,
                           std::span<const std::string_view> options);

}  // namespace paceline::cli
