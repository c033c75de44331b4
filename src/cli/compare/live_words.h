// SPDX-License-Identifier: MIT
// Words of a comparison that measures both sides: compare infer COMMON --a 'WORDS' --b 'WORDS'.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "config/flag_set.h"
#include "config/settings.h"

namespace paceline::cli {

// One side as it was written.
struct LiveSide {
  std::string name;                // A, B
  std::string written;             // what is its own, in words: "--engine onnxruntime"; empty: nothing
  std::vector<std::string> words;  // of its command, with those that both sides share
  std::vector<std::string> env;    // NAME=VALUE of its processes
  std::string program;             // another Paceline; empty: this one
  std::string remark{};            // what the reader should know of it; empty: nothing
};

struct LiveWords {
  std::string command;  // infer, train, comm, run
  unsigned bits = 0;    // of that command
  config::FlagSet own;  // flags of compare itself
  std::array<LiveSide, 2> sides;
};

// Nothing where the first word is no command that runs cases. Throws Error(kUsage) where the sides do not
// differ in anything that was written, and for words that cannot be split.
std::optional<LiveWords> live_words(const std::vector<std::string>& arguments);

}  // namespace paceline::cli
