// SPDX-License-Identifier: MIT
#include "cli/profile/profile_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "cli/duration.h"
#include "cli/profile/nsight_run.h"
#include "config/option_table.h"
#include "config/plan_reader.h"

namespace paceline::cli {

namespace {

// Options that --self-test cannot follow: its plan and length are fixed.
constexpr std::array<std::string_view, 10> kNotForSelfTest{
    "config",         "resume", "from",      "duration",      "target",
    "nproc_per_node", "nnodes", "node_rank", "rdzv_endpoint", "interface"};

// All that --from takes beside it: it reads traces and trains nothing.
constexpr std::array<std::string_view, 10> kBesideFrom{"from",          "expect",    "json",      "quiet",
                                                       "verbose",       "no_color",  "self_test", "kernels",
                                                       "answer_format", "output_dir"};

// A self-test leaves to the user how long and how exactly it measures and where results go, not what it
// trains.
void check_self_test(const config::FlagSet& flags) {
  const auto refuse = [](const std::string& written) {
    throw Error(ErrorCode::kUsage, fmt::format("{}: --self-test trains its built-in small model in five "
                                               "cases; leave {} out, or profile without --self-test",
                                               written, written));
  };
  if (!flags.positionals.empty()) refuse(flags.positionals.front());
  for (const auto& setting : flags.settings) {
    const auto* const row = config::row_of(setting.name, config::kCommandLine | config::kPlanLevel);
    const bool of_command = row != nullptr && config::serves(*row, config::kTrain | config::kProfile);
    const auto* const of_training = config::row_of(setting.name, config::kTraining);
    const bool refused = std::ranges::find(kNotForSelfTest, setting.name) != kNotForSelfTest.end();
    if (refused || (!of_command && of_training != nullptr && of_training->identity)) refuse(setting.written);
  }
}

}  // namespace

bool is_self_test(const config::Settings& options) {
  return options.has("self_test") && options.flag("self_test");
}

void check_from(const config::FlagSet& flags) {
  const auto refuse = [](const std::string& written) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{}: --from reads traces and trains nothing; leave {} out", written, written));
  };
  if (!flags.positionals.empty()) refuse(flags.positionals.front());
  for (const auto& setting : flags.settings)
    if (std::ranges::find(kBesideFrom, setting.name) == kBesideFrom.end()) refuse(setting.written);
}

// Delays are longer than a step of the small model, and its batch is so large that a neighbour costs more
// than an exchange does. Who is late in every repetition is no neighbour's burst.
config::PlanText self_test_plan() {
  std::string text = "experiment_name: self_test\nallow_noisy: true\nworkloads:\n";
  for (const char* fault : {"", "slow=40ms:rank=1", "slow_load=40ms", "slow_link=40ms", "throttle:rank=1"}) {
    text +=
        "  - kind: training\n    models: [tiny_cnn]\n    batch_sizes: [64]\n    gpu_counts: [2]\n    "
        "threads: 1\n"
        "    device: cpu\n    repetitions: 3\n    benchmark: {warmup_steps: 3, measure_steps: 60}\n";
    if (*fault) text += fmt::format("    inject: '{}'\n", fault);
  }
  return {text, "--self-test"};
}

config::FlagSet with_profile(config::FlagSet flags) {
  const auto options = config::command_settings(flags);
  if (is_self_test(options)) {
    check_self_test(flags);
    return flags;
  }
  if (options.has("tool")) return with_tool(std::move(flags));
  for (const auto& setting : flags.settings)
    if (setting.name == "launch_count" || setting.name == "kernel_name" || setting.name == "sections")
      throw Error(ErrorCode::kUsage, fmt::format("{} is for --tool ncu", setting.written));
  const double seconds = seconds_of("--duration", options.text("duration"));
  const auto add = [&](const char* name, std::string value) {
    if (flags.has(name)) return;
    config::RawSetting setting;
    setting.name = setting.written = name;
    setting.on_command_line = true;
    setting.values = {{std::move(value), setting.place, false}};
    flags.settings.push_back(std::move(setting));
  };
  add("profiling.enabled", "true");
  add("repetitions", "1");
  const bool planned = flags.has("config") || !flags.positionals.empty();
  if (!flags.has("benchmark.measure_steps") && (!planned || flags.has("duration")))
    add("benchmark.measure_seconds", fmt::format("{}", seconds));
  return flags;
}

}  // namespace paceline::cli
