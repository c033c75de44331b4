// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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
#include "host/affinity.h"
#include "onnx/graph.h"
#include "onnx/model_file.h"
#include "result/case_fields.h"
#include "run/model_files.h"
#include "run/quantised_files.h"
#include "workload/prepare/sensitivity.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

std::string required(const config::Settings& options, const char* name, const char* example) {
  if (options.has(name)) return options.text(name);
  throw Error(ErrorCode::kUsage, fmt::format("--{} is missing, e.g. {}", name, example));
}

const config::Model& built_in(const std::string& name) {
  if (const auto* model = config::find_model(name)) return *model;
  throw Error(
      ErrorCode::kUsage,
      fmt::format("'{}' is a file: export writes built-in models, and ONNX files with --precision fp16 or "
                  "int8",
                  name));
}

plugin::ModelSpec model_spec(const config::Settings& options) {
  const auto& model = built_in(options.text("model"));
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

bool changes_precision(const config::Settings& options) {
  if (options.text("precision") == "fp32") return false;
  if (options.text("file_format") != "onnx")
    throw Error(ErrorCode::kUsage,
                fmt::format("--precision {} is for --format onnx", options.text("precision")));
  return true;
}

// A file of the user's: one sample at a time where its batch is free.
plugin::ModelSpec file_spec(const std::string& file) {
  plugin::ModelSpec spec;
  spec.file = fs::absolute(file).string();
  spec.inputs = onnx::graph_inputs(onnx::read_model(file).graph());
  for (auto& input : spec.inputs) {
    if (!input.shape.empty() && input.shape[0] < 0) input.shape[0] = 1;
    if (std::any_of(input.shape.begin(), input.shape.end(), [](auto extent) { return extent < 0; }))
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("'{}': input '{}' has a free dimension besides the batch; fix it to calibrate",
                              file, input.name));
  }
  return spec;
}

// The float model as a file, which goes when this does; a file of the user's stays.
class FloatFile {
 public:
  FloatFile(const config::Settings& options, const workload::ExportTo& to) {
    const auto& name = options.text("model");
    const bool is_file = !config::find_model(name) && name.ends_with(".onnx");
    model_ = is_file ? file_spec(name) : model_spec(options);
    if (is_file) return;
    auto target = to;
    target.file = written_ = to.file + ".float.onnx";
    run::export_model(engine_directory({}), model_, target, InterruptGuard::flag());
    model_.file = written_;
  }
  ~FloatFile() {
    std::error_code ignored;
    if (written_.empty()) return;
    fs::remove(written_, ignored);
    fs::remove(written_ + ".data", ignored);
  }
  FloatFile(const FloatFile&) = delete;
  FloatFile& operator=(const FloatFile&) = delete;
  [[nodiscard]] const plugin::ModelSpec& model() const { return model_; }

 private:
  plugin::ModelSpec model_;
  std::string written_;
};

void show_sensitivity(const config::Settings& options, const Console& console, const std::string& file) {
  if (options.flag("int8_sensitivity") && options.text("precision") == "int8")
    print(console.text(), workload::sensitivity_table(read_file(file + ".sensitivity.json")));
}

struct Written {
  plugin::ModelSpec model;
  workload::PreparedFile file;
};

Written write_in_precision(const config::Settings& options, const workload::ExportTo& to,
                           const Console& console) {
  const FloatFile source(options, to);
  if (run::calibrates_with_random_inputs(options)) console.warn(run::kRandomCalibration);
  workload::PassSpec base;
  base.model = source.model();
  base.settings.threads = static_cast<int>(host::allowed_cpus().size());
  base.tolerance.centred_cosine = config::find_precision(options.text("precision"))->cnn.centred_cosine;
  const auto file = run::quantise_file(engine_directory({}), options, base, to.file, InterruptGuard::flag());
  show_sensitivity(options, console, to.file);
  return {source.model(), file};
}

Written write(const config::Settings& options, const workload::ExportTo& to, const Console& console) {
  if (changes_precision(options)) return write_in_precision(options, to, console);
  const auto model = model_spec(options);
  return {model, run::export_model(engine_directory({}), model, to, InterruptGuard::flag())};
}

std::string quantisation_text(const result::Quantisation& q) {
  if (q.precision.empty()) return "";
  const auto calibrated =
      q.calibration.empty() ? "" : fmt::format(", ranges by {} from {}", q.method, q.calibration);
  auto text = fmt::format(", {} layers in {} ({}-bit weights, {} activations){}, {} operators left in float",
                          q.layers.value().value_or(0), q.precision, q.weight_bits.value().value_or(0),
                          q.activations, calibrated, q.float_layers.size());
  for (const auto& note : q.notes) text += "; " + note;
  return text;
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
  (void)required(options, "model", "--model resnet50");
  const auto to = target(options);
  const auto [model, written] = write(options, to, console);
  const auto inputs = inputs_text(model, to.settings.dynamic_batch);
  console.say(fmt::format("{}: {} as {}, {}, {}, in {}{}", to.file, options.text("model"), to.format,
                          format_bytes(static_cast<double>(written.size_bytes)), inputs,
                          format_duration_ns(written.duration_ns), quantisation_text(written.quantisation)));
  if (console.json)
    console.result(nlohmann::json({{"file", to.file},
                                   {"model", options.text("model")},
                                   {"precision", options.text("precision")},
                                   {"format", to.format},
                                   {"inputs", inputs},
                                   {"size_bytes", written.size_bytes},
                                   {"duration_ns", written.duration_ns},
                                   {"quantisation", result::Writer::write(written.quantisation)}})
                       .dump(2) +
                   "\n");
  return ExitCode::kOk;
}

}  // namespace paceline::cli
