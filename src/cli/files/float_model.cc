// SPDX-License-Identifier: MIT
#include "cli/files/float_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/model_content.h"
#include "base/reading.h"
#include "cli/interrupts.h"
#include "cli/plugins.h"
#include "config/inference/folder_weights.h"
#include "config/shape_profiles.h"
#include "config/vocabulary.h"
#include "host/machine/cpu_choice.h"
#include "onnx/declared_inputs.h"
#include "onnx/graph.h"
#include "onnx/model_file.h"
#include "pass/input_layout.h"
#include "pass/sensitivity.h"
#include "run/artefacts/model_files.h"
#include "run/artefacts/quantised_files.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

// Accepts a folder of config.json and weights, too.
const config::Model& built_in(const std::string& name) {
  if (const auto* model = config::find_model(name)) return *model;
  throw Error(
      ErrorCode::kUsage,
      fmt::format(
          "'{}' is a file: export writes built-in models, and ONNX files with --precision fp16 or int8",
          name));
}

// The batch dimension of each input: 0, where the file leaves that open; else the one with the symbol of such
// a batch. Where no input has an open front, it is the front of each. A scalar has none.
std::vector<std::int64_t> batch_dimensions_of(const std::string& file) {
  const auto declared = onnx::read_declared_inputs(file);
  const auto open_front = [](const DeclaredInput& input) {
    return input.shape && !input.shape->empty() && input.shape->front() < 0;
  };
  const auto batch = std::find_if(declared.begin(), declared.end(), open_front);
  std::vector<std::int64_t> dimensions;
  for (const auto& input : declared) {
    const bool scalar = input.shape && input.shape->empty();
    dimensions.push_back(scalar || (batch != declared.end() && !open_front(input)) ? pass::kNoBatch : 0);
    if (dimensions.back() == 0 || scalar || batch == declared.end() || batch->symbols.front().empty())
      continue;
    const auto same = std::find(input.symbols.begin(), input.symbols.end(), batch->symbols.front());
    if (same != input.symbols.end()) dimensions.back() = same - input.symbols.begin();
  }
  return dimensions;
}

// A file of the user: one sample at a time where its batch is free. Other free sizes are those of the
// calibration data.
plugin::ModelSpec file_spec(const config::Settings& options) {
  const auto& file = options.text("model");
  const bool lacks_sizes = options.text("precision") == "int8" && options.texts("calib_data").empty();
  plugin::ModelSpec spec;
  spec.file = fs::absolute(file).string();
  spec.inputs = onnx::graph_inputs(onnx::read_model(file).graph());
  const auto dimensions = batch_dimensions_of(spec.file);
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    auto& input = spec.inputs[i];
    if (const auto batch = pass::batch_dimension_of(dimensions, i);
        batch != pass::kNoBatch && !input.shape.empty())
      if (auto& size = input.shape.at(static_cast<std::size_t>(batch)); size < 0) size = 1;
    if (lacks_sizes &&
        std::any_of(input.shape.begin(), input.shape.end(), [](auto extent) { return extent < 0; }))
      throw Error(ErrorCode::kUnsupported,
                  fmt::format("'{}': input '{}' [{}] has a free dimension besides the batch; give "
                              "--calib-data {}:FILE.npy, whose shape is the one to calibrate with",
                              file, input.name, config::shape_text(input.shape), input.name));
  }
  return spec;
}

void show_sensitivity(const config::Settings& options, const Console& console, const std::string& file) {
  if (options.flag("int8_sensitivity") && options.text("precision") == "int8")
    print(console.text(), for_terminal(pass::sensitivity_table(read_file(file + ".sensitivity.json"))));
}

}  // namespace

std::string required(const config::Settings& options, const char* name, const char* example) {
  if (options.has(name)) return options.text(name);
  throw Error(ErrorCode::kUsage, fmt::format("--{} is missing, e.g. {}", name, example));
}

void settle_model(config::Settings& options) {
  const auto weights = options.has("weights") ? options.text("weights") : std::string();
  const auto why = weights.empty() ? Refusal() : no_regular_file(weights);
  if (why) throw Error(ErrorCode::kUsage, fmt::format("--weights: '{}' {}", shown_path(weights), *why));
  const auto folder = config::folder_of_weights(options.text("model"), weights);
  if (!folder.empty()) options.set("model", folder);
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
  spec.weights_file = config::weights_of(options);
  spec.weights_seed = static_cast<std::uint64_t>(options.integer("weights_seed"));
  spec.inputs = config::model_inputs(model, options.integer("batch"), length);
  return spec;
}

bool is_onnx_file(const config::Settings& options) {
  const auto& name = options.text("model");
  return !config::find_model(name) && model_suffix(name) == ".onnx";
}

FloatFile::FloatFile(const config::Settings& options, const pass::ExportTo& to) {
  const bool is_file = is_onnx_file(options);
  model_ = is_file ? file_spec(options) : model_spec(options);
  if (is_file) return;
  auto target = to;
  target.file = written_ = to.file + ".float.onnx";
  run::export_model(engine_directory({}), model_, target, options.number("timeout_s"),
                    InterruptGuard::flag());
  model_.file = written_;
}

FloatFile::~FloatFile() {
  std::error_code ignored;
  if (written_.empty()) return;
  fs::remove(written_, ignored);
  fs::remove(written_ + ".data", ignored);
}

pass::PreparedFile write_in_precision(const config::Settings& options, const plugin::ModelSpec& model,
                                      const std::string& engine, const std::string& file,
                                      const Console& console) {
  if (run::calibrates_with_random_inputs(options)) console.warn(run::kRandomCalibration);
  pass::PassSpec base;
  base.model = model;
  base.batch_dimensions = batch_dimensions_of(model.file);
  base.use(plugin::Role::kEngine, engine);
  base.settings.threads = static_cast<int>(host::allowed_cpus().size());
  base.tolerance.centred_cosine = config::find_precision(options.text("precision"))->cnn.centred_cosine;
  const auto written = run::quantise_file(engine_directory({}), options, base, file, InterruptGuard::flag());
  show_sensitivity(options, console, file);
  return written;
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

}  // namespace paceline::cli
