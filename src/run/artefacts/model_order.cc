// SPDX-License-Identifier: MIT
#include "run/artefacts/model_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/device.h"
#include "base/error.h"
#include "base/model_content.h"
#include "config/inference/folder_weights.h"
#include "config/shape_profiles.h"
#include "config/shapes.h"
#include "config/vocabulary.h"
#include "host/machine/cpu_choice.h"
#include "onnx/declared_inputs.h"
#include "onnx/graph.h"
#include "onnx/model_file.h"
#include "pass/input_layout.h"
#include "run/artefacts/file_inputs.h"
#include "run/artefacts/quantised_files.h"

namespace paceline::run {
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

// Options of `build` that go to the engine unchanged.
constexpr std::array kEngineOptions{"workspace", "dla", "freezing"};
constexpr const char* kTimingCache = "timing_cache";  // likewise, but a file

std::string ordered_device(const config::Settings& s) {
  const auto device = parse_device(s.text("device"));
  const bool cpu = device && device->kind == DeviceKind::kCpu;
  if (makes_package(s)) {
    if (device) return device_name(*device);
    throw Error(ErrorCode::kUsage, fmt::format("--device '{}': write cpu, cuda or cuda:1", s.text("device")));
  }
  if (!device || cpu)
    throw Error(ErrorCode::kUsage,
                fmt::format("--device '{}': files for one GPU are built on it; write cuda or cuda:1",
                            s.text("device")));
  return device_name(*device);
}

std::map<std::string, std::string> engine_options(const config::Settings& s) {
  std::map<std::string, std::string> own;
  for (const char* name : kEngineOptions)
    if (s.has(name)) own[name] = config::value_text(s.list(name).front());
  if (s.has("device")) own["device"] = ordered_device(s);
  if (s.has(kTimingCache)) own[kTimingCache] = fs::absolute(s.text(kTimingCache)).string();
  return own;
}

// A TorchScript file takes its inputs by their place and declares few types and no shapes.
std::vector<TensorSpec> inputs_of_script(const config::Settings& s, const std::vector<DeclaredInput>& all) {
  const auto& file = s.text("model");
  std::vector<TensorSpec> given, inputs;
  if (s.has("opt_shapes")) given = config::parse_shapes(s.text("opt_shapes"));
  for (const auto& declared : all) {
    const auto it = std::ranges::find(given, declared.name, &TensorSpec::name);
    if (it == given.end())
      throw Error(ErrorCode::kUsage,
                  fmt::format("'{0}' does not say which shape its input '{1}' has; give --opt-shapes "
                              "{1}:8x3x224x224, with all inputs",
                              file, declared.name));
    inputs.push_back(*it);
    if (declared.dtype) inputs.back().dtype = *declared.dtype;
  }
  return inputs;
}

// The batch of a built-in model is free until its package is made.
std::vector<ShapeProfile> package_profiles(const config::Settings& s, std::vector<TensorSpec> inputs) {
  if (config::find_model(s.text("model")))
    for (auto& input : inputs) input.shape.at(0) = -1;
  return config::complete_profiles(config::shape_profiles(s), inputs, s.integer("batch"));
}

// Only an export's log is part of its reason.
process::WorkerOutcome run_alone(const pass::PassSpec& pass, double timeout_s,
                                 const std::atomic<bool>& interrupt) {
  auto [outcome, log] = ask_plugin(pass, timeout_s, interrupt);
  if (pass.kind == pass::PassKind::kExport) outcome.reason += log;
  return std::move(outcome);
}

}  // namespace

plugin::ModelSpec built_in_model(const config::Settings& options) {
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

bool makes_package(const config::Settings& s) {
  return s.text("engine") == kPackageEngine;
}

BuildOrder ordered_build(const config::Settings& s, const BuildSource& source, const fs::path& output) {
  BuildOrder order;
  order.engine = s.text("engine");
  order.precision = s.text("precision");
  order.threads = static_cast<int>(host::allowed_cpus().size());
  order.timeout_s = s.number("timeout_s");
  order.model = s.text("model");
  order.source = fs::absolute(source.file);
  order.file = output;
  order.log = s.has("log") ? fs::path(s.text("log")) : fs::path(output.string() + ".log");
  order.log = fs::absolute(order.log);
  order.options = engine_options(s);
  order.inputs = source.inputs;
  order.profiles = makes_package(s)
                       ? package_profiles(s, order.inputs)
                       : config::complete_profiles(config::shape_profiles(s),
                                                   onnx::graph_inputs(onnx::read_model(order.source).graph()),
                                                   s.integer("batch"));
  return order;
}

ModelOrder::ModelOrder(const EngineDirectory& engines, const config::Settings& settings, fs::path folder,
                       const std::atomic<bool>& interrupt)
    : engines_(engines),
      settings_(settings),
      interrupt_(interrupt),
      path_(std::move(folder)),
      run_([timeout_s = settings.number("timeout_s"), &interrupt](const pass::PassSpec& pass) {
        return run_alone(pass, timeout_s, interrupt);
      }) {}

const fs::path& ModelOrder::folder() {
  if (!folder_) folder_.emplace(path_);
  return path_;
}

const pass::PassReport& ModelOrder::built(const BuildOrder& order) {
  return graph_.want(built_file(engines_, order, interrupt_));
}

pass::PreparedFile ModelOrder::exported(const plugin::ModelSpec& model, const pass::ExportTo& to) {
  pass::PassSpec pass;
  pass.kind = pass::PassKind::kExport;
  pass.use(plugin::Role::kExporter, to.format, engines_.require(plugin::Role::kExporter, to.format));
  pass.model = model;
  pass.task = to;
  try {
    return graph_.want(written_by(pass, run_)).get<pass::PreparedFile>();
  } catch (const PassFailure& e) {
    throw Error(e.code(), fmt::format("cannot export {}: {}", model.name, e.what()));
  }
}

plugin::ModelSpec ModelOrder::float_model(const pass::ExportTo& to) {
  if (is_onnx_file(settings_)) return file_spec(settings_);
  auto model = built_in_model(settings_);
  auto target = to;
  target.file = (folder() / fs::path(to.file).filename()).string() + ".float.onnx";
  exported(model, target);
  model.file = target.file;
  return model;
}

BuildSource ModelOrder::script(const fs::path& output) {
  BuildSource source{settings_.text("model")};
  if (!config::find_model(source.file)) {
    const auto declared =
        file_inputs(engines_, "torchscript", source.file, {}, settings_.number("timeout_s"), interrupt_);
    source.inputs = inputs_of_script(settings_, declared);
    return source;
  }
  auto model = built_in_model(settings_);
  const auto profiles = package_profiles(settings_, model.inputs);
  for (std::size_t i = 0; i < model.inputs.size(); ++i) model.inputs[i].shape = profiles.front()[i].opt;
  source.inputs = model.inputs;
  source.file = (folder() / output.filename()).string() + ".float.pt";
  exported(model, {"torchscript", source.file, {}});
  return source;
}

pass::PreparedFile ModelOrder::in_precision(const plugin::ModelSpec& model, const std::string& engine,
                                            const std::string& file) {
  pass::PassSpec base;
  base.model = model;
  base.inference.batch_dimensions = batch_dimensions_of(model.file);
  base.use(plugin::Role::kEngine, engine);
  base.settings.threads = static_cast<int>(host::allowed_cpus().size());
  base.inference.tolerance.centred_cosine =
      config::find_precision(settings_.text("precision"))->cnn.centred_cosine;
  auto pass = quantise_pass(settings_, base, model.file, engines_);
  const auto calibration = add_calibration(settings_, pass, folder(), run_);
  auto& to = std::get<pass::QuantiseTo>(pass.task);
  to.file = file;
  if (to.precision == "int8") {
    if (settings_.has("calib_cache")) to.cache_file = calibration_file(settings_, pass, path_).string();
    if (settings_.flag("int8_sensitivity")) to.sensitivity_file = file + ".sensitivity.json";
  }
  try {
    return graph_.want(quantised_file(pass, run_, calibration)).get<pass::PreparedFile>();
  } catch (const PassFailure& e) {
    if (e.kind() != pass::PassKind::kQuantise) throw;
    throw Error(e.code(),
                fmt::format("cannot write {} as {}: {}", settings_.text("model"), to.precision, e.what()));
  }
}

}  // namespace paceline::run
