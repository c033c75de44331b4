// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/command_table.h"
#include "cli/interrupts.h"
#include "cli/plugins.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "config/vocabulary.h"
#include "run/model_files.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

std::string required(const config::Settings& options, const char* name, const char* example) {
  if (options.has(name)) return options.text(name);
  throw Error(ErrorCode::kUsage, fmt::format("--{} is missing, e.g. {}", name, example));
}

const config::Model& built_in(const std::string& name) {
  if (const auto* model = config::find_model(name)) return *model;
  throw Error(ErrorCode::kUsage, fmt::format("'{}' is a file: export writes built-in models", name));
}

plugin::ModelSpec model_spec(const config::Settings& options) {
  const auto& model = built_in(required(options, "model", "--model resnet50"));
  const bool tokens = model.max_sequence_length > 0;
  const auto length =
      options.has("sequence_length") ? options.integer("sequence_length") : model.default_sequence_length;
  if (options.has("sequence_length") && !tokens)
    throw Error(ErrorCode::kUsage, fmt::format("--sequence-length: {} takes no sequences", model.name));
  if (tokens && length > model.max_sequence_length)
    throw Error(ErrorCode::kUsage, fmt::format("--sequence-length {}: {} takes at most {} tokens", length,
                                               model.name, model.max_sequence_length));
  plugin::ModelSpec spec;
  spec.name = model.name;
  spec.weights_file = options.has("weights") ? options.text("weights") : "";
  spec.weights_seed = static_cast<std::uint64_t>(options.integer("weights_seed"));
  spec.inputs = config::model_inputs(model, options.integer("batch"), length);
  return spec;
}

workload::ExportTo target(const config::Settings& options) {
  workload::ExportTo to;
  to.format = options.text("file_format");
  to.file = fs::absolute(required(options, "output", "--output resnet50.onnx")).string();
  to.settings.opset = options.integer("opset");
  to.settings.dynamic_batch = options.flag("dynamic_batch");
  to.settings.external_data_above_bytes = options.integer("external_data_above");
  std::error_code error;
  if (fs::is_directory(to.file, error))
    throw Error(ErrorCode::kUsage, fmt::format("--output '{}' is a folder; name a file", to.file));
  make_directories(fs::path(to.file).parent_path());
  return to;
}

std::string inputs_text(const plugin::ModelSpec& model, bool dynamic) {
  std::vector<std::string> texts;
  for (auto input : model.inputs) {
    std::vector<std::string> extents;
    for (const auto extent : input.shape) extents.push_back(fmt::format("{}", extent));
    if (dynamic) extents.front() = "N";
    texts.push_back(fmt::format("{}:{}:{}", input.name, fmt::join(extents, "x"), dtype_name(input.dtype)));
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

}  // namespace

ExitCode export_command(const Context& context) {
  const auto flags = config::parse_flags(context.arguments, config::kExport);
  const auto options = config::command_settings(flags);
  const Console console = make_console(options.flag("json"), options.flag("quiet"), options.flag("verbose"),
                                       options.flag("no_color"));
  const InterruptGuard guard;
  const auto model = model_spec(options);
  const auto to = target(options);
  const auto written = run::export_model(engine_directory({}), model, to, InterruptGuard::flag());
  const auto inputs = inputs_text(model, to.settings.dynamic_batch);
  console.say(fmt::format("{}: {} as {}, {}, {}, in {}", to.file, model.name, to.format,
                          format_bytes(static_cast<double>(written.size_bytes)), inputs,
                          format_duration_ns(written.duration_ns)));
  if (console.json)
    console.result(nlohmann::json({{"file", to.file},
                                   {"model", model.name},
                                   {"format", to.format},
                                   {"inputs", inputs},
                                   {"size_bytes", written.size_bytes},
                                   {"duration_ns", written.duration_ns}})
                       .dump(2) +
                   "\n");
  return ExitCode::kOk;
}

}  // namespace paceline::cli
