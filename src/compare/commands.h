// SPDX-License-Identifier: MIT
// Compares two commands over pairs of fresh processes.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "process/process_cost.h"

namespace paceline::compare {

// A command as the user wrote it, and the words that start it.
struct CommandSide {
  std::string text;
  std::vector<std::string> argv;
};

struct CommandRequest {
  std::array<CommandSide, 2> sides{};
  std::vector<std::string> prepare{};  // runs before each process; empty: nothing
  std::int64_t warmup = 0;             // processes of each side before the first pair
  std::int64_t pairs = 10;
  std::uint64_t seed = 1;
  bool ignore_failure = false;
  double threshold = 0.03;
};

// How to run one process of a side and how to measure the control, so that tests need neither.
struct CommandRunner {
  std::function<process::ProcessCost(const std::vector<std::string>& argv)> run;
  std::function<double()> control_ns;
  std::function<std::string()> last_words{};              // of the process before, for messages
  std::function<void(std::size_t, std::size_t)> begun{};  // pair, pairs
};

// The control is measured right before each process. Where the pairs do not decide, as many follow once. An
// interrupt ends the measurement after the pairs that are complete. Throws Error for a process that fails,
// unless that is ignored.
Comparison compare_commands(const CommandRequest& request, const CommandRunner& runner,
                            const std::atomic<bool>& interrupt);

// Words of a command as a POSIX shell expands them, without running one. Throws Error(kUsage) for what only a
// shell can do (pipes, redirections, several commands), and for open quotes.
std::vector<std::string> command_words(const std::string& flag, const std::string& text);

// The command in words of its shell, or split into words with `shell` "none". Throws Error(kUsage) for a
// program that is not there; `flag` is in messages.
CommandSide command_side(const std::string& flag, const std::string& text, const std::string& shell);

}  // namespace paceline::compare
