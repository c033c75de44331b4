// SPDX-License-Identifier: MIT
#include "cli/compare/command_sides.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "cli/compare/compare_options.h"
#include "cli/interrupts.h"
#include "compare/commands.h"
#include "measure/control_spin.h"

namespace paceline::cli {
namespace {

constexpr double kMargin = 0.03;
constexpr std::size_t kCommandTail = 1000;  // bytes of a command's output in a message

compare::CommandRequest request_of(const config::FlagSet& flags, const config::Settings& options) {
  auto texts = options.texts("command");
  texts.insert(texts.end(), flags.positionals.begin(), flags.positionals.end());
  if (texts.size() != 2)
    throw Error(
        ErrorCode::kUsage,
        fmt::format("--command takes two commands, and {} given; write each as one argument: paceline "
                    "compare --command 'sleep 0.1' 'sleep 0.2'",
                    texts.size() == 1 ? "one is" : fmt::format("{} are", texts.size())));
  const auto& shell = options.text("shell");
  compare::CommandRequest request;
  for (std::size_t i = 0; i < texts.size(); ++i)
    request.sides.at(i) = compare::command_side("--command", texts[i], shell);
  if (options.has("prepare"))
    request.prepare = compare::command_side("--prepare", options.text("prepare"), shell).argv;
  request.warmup = options.integer("command_warmup");
  request.pairs = options.integer("command_repetitions");
  request.seed = static_cast<std::uint64_t>(options.integer("block_seed"));
  request.ignore_failure = options.flag("ignore_failure");
  request.threshold = asked_threshold(options).value_or(kMargin);
  return request;
}

}  // namespace

compare::Comparison compared_commands(const config::FlagSet& flags, const config::Settings& options,
                                      const Console& console) {
  const auto request = request_of(flags, options);
  const auto scratch = ScratchFolder::below_temp("paceline-compare");
  const auto log = scratch.path() / "log";
  const InterruptGuard guard;
  compare::CommandRunner runner;
  runner.run = [&](const std::vector<std::string>& argv) {
    replace_file(log, "");
    return process::cost_of_process(argv, log, InterruptGuard::flag());
  };
  runner.control_ns = [] { return measure::control_spin_ns(); };
  runner.last_words = [&] { return file_tail(log, kCommandTail); };
  runner.begun = [&](std::size_t pair, std::size_t pairs) {
    if (console.verbose) print(stderr, fmt::format("pair {} of {}\n", pair, pairs));
  };
  measure::control_spin_ns();  // its memory is touched before it counts
  return compare::compare_commands(request, runner, InterruptGuard::flag());
}

}  // namespace paceline::cli
