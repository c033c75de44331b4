// SPDX-License-Identifier: MIT
#include "cli/run/next_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/case_query.h"
#include "base/text.h"
#include "config/vocabulary.h"
#include "onnx/placement.h"

namespace paceline::cli {
namespace {

constexpr std::array<std::string_view, 7> kComparesAlready{
    "engines", "precisions", "repetitions", "scenario", "in_process", "resume", "plugin"};

bool compares_already(const config::FlagSet& flags) {
  return std::ranges::any_of(flags.settings, [](const auto& setting) {
    return std::ranges::count(kComparesAlready, setting.name) > 0;
  });
}

// The check asked the engine to run the file, and it could not.
bool refused(const result::RunResult& run, std::string_view engine) {
  return std::ranges::any_of(run.cases, [&](const auto& c) { return c.correctness.refused_by == engine; });
}

// Not where the file decides: it is quantised, or ran in another precision than fp32.
bool can_be_quantised(const std::string& file, const result::RunResult& run) {
  return !run.cases.empty() && run.cases.front().benchmark.precision == "fp32" &&
         onnx::can_be_quantised(file);
}

// Options that a search takes over from a first look: they are about the model and its inputs.
constexpr std::array<std::string_view, 7> kOfTheModel{"shapes",     "load_inputs",  "device", "labels",
                                                      "calib_data", "calib_images", "plugin"};

std::string tune_words(const config::FlagSet& flags, const std::string& model) {
  if (flags.has("batch_sizes")) return {};
  std::string command = "paceline tune --model " + analysis::shell_word(model);
  for (const auto& setting : flags.settings) {
    if (std::ranges::count(kOfTheModel, setting.name) == 0) continue;
    for (const auto& value : setting.values)
      command += fmt::format(" {} {}", setting.written, analysis::shell_word(value.text));
  }
  return command;
}

}  // namespace

NextCommands next_commands(const Context& context, const config::FlagSet& flags,
                           const std::vector<config::Case>& cases, const run::EngineDirectory& engines,
                           const result::RunResult& run) {
  if (flags.command != config::kInfer || cases.size() != 1 || compares_already(flags)) return {};
  const auto* file = config::find_file_type(cases.front().settings.text("model"));
  if (file == nullptr || file->suffix != ".onnx") return {};
  const auto& settings = cases.front().settings;
  const std::string device = settings.has("device") ? settings.text("device") : "cpu";
  std::vector<std::string> readers;
  for (const auto& reader : file->readers)
    if (!refused(run, reader) && !engines.find(plugin::Role::kEngine, reader, device).file.empty())
      readers.emplace_back(reader);
  if (readers.empty()) return {};
  std::string command = "paceline infer";
  for (const auto& word : context.arguments) command += " " + analysis::shell_word(word);
  const std::string precisions =
      can_be_quantised(settings.text("model"), run) ? " --precision fp32,int8" : "";
  if (precisions.empty() && readers.size() < 2) return {};
  return {tune_words(flags, settings.text("model")),
          command + " --engine " + join(readers, ",") + precisions + " --repetitions 6"};
}

}  // namespace paceline::cli
