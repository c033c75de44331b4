// SPDX-License-Identifier: MIT
// The pass that writes an ONNX file in int8 or fp16.
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/sha256.h"
#include "onnx/calibration.h"
#include "onnx/half_cast.h"
#include "onnx/model_file.h"
#include "onnx/quantise.h"
#include "onnx/raise_opset.h"
#include "onnx/simplify.h"
#include "workload/prepare/model_runner.h"
#include "workload/prepare/passes.h"
#include "workload/prepare/sensitivity.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

std::string hash_of_files(const std::vector<std::string>& files) {
  Sha256 hash;
  for (const auto& file : files) hash.update(sha256_file(file));
  return hash.finish_hex();
}

// Hash of the file and of the weights beside it.
std::string model_hash(const std::string& file) {
  std::vector<std::string> files{file};
  if (fs::exists(file + ".data")) files.push_back(file + ".data");
  return hash_of_files(files);
}

std::string method_text(const onnx::RangeRule& rule) {
  const std::string name(onnx::range_method_name(rule.method));
  return rule.method == onnx::RangeMethod::kPercentile ? fmt::format("{} {}", name, rule.percentile) : name;
}

// One int8 file from a float model.
class Int8Pass {
 public:
  Int8Pass(const pass::PassSpec& spec, pass::RecordSink& sink, const std::atomic<bool>& interrupt)
      : spec_(spec), to_(std::get<pass::QuantiseTo>(spec.task)), sink_(sink), interrupt_(interrupt) {}

  result::Quantisation run(onnx::proto::ModelProto& model);

 private:
  [[nodiscard]] onnx::QuantiseOptions options() const;
  [[nodiscard]] onnx::Ranks missing_ranks(onnx::proto::ModelProto& model);
  void raise_operator_set(onnx::proto::ModelProto& model);
  void find_ranges(onnx::proto::ModelProto& model);
  [[nodiscard]] bool use_cache(const std::set<std::string>& values);
  void calibrate(onnx::proto::ModelProto& model, const std::set<std::string>& values);
  void write_cache() const;
  void study(onnx::proto::ModelProto& model);
  ModelRunner& runner() {
    if (!runner_) runner_.emplace(spec_, sink_, interrupt_);
    return *runner_;
  }

  const pass::PassSpec& spec_;
  const pass::QuantiseTo& to_;
  pass::RecordSink& sink_;
  const std::atomic<bool>& interrupt_;
  std::optional<ModelRunner> runner_;
  onnx::Calibration calibration_;
  std::string origin_;  // where the ranges came from, in words
  std::vector<std::string> notes_;
};

onnx::QuantiseOptions Int8Pass::options() const {
  onnx::QuantiseOptions options;
  options.placement.exclude = to_.exclude;
  options.activations = to_.activations == "int8" ? onnx::Activations::kSigned : onnx::Activations::kUnsigned;
  options.reduce_range = to_.reduce_range;
  options.ranks = calibration_.ranks;
  return options;
}

bool Int8Pass::use_cache(const std::set<std::string>& values) {
  if (to_.cache_file.empty() || !fs::exists(to_.cache_file)) return false;
  const auto kept =
      onnx::calibration_from_json(read_foreign(to_.cache_file, Foreign::kCalibration), to_.cache_file);
  const auto reason = onnx::why_not_reusable(kept, calibration_, values);
  if (!reason.empty()) {
    notes_.push_back(fmt::format("calibration cache '{}' not used: {}", to_.cache_file, reason));
    return false;
  }
  calibration_ = kept;
  origin_ = fmt::format("cache '{}': {}", to_.cache_file, kept.source);
  return true;
}

void Int8Pass::calibrate(onnx::proto::ModelProto& model, const std::set<std::string>& values) {
  onnx::Calibrator calibrator(values);
  auto observed = onnx::with_outputs(model, values);
  calibration_.samples =
      runner().run(observed, calibration_.samples, "calibrate", [&](auto inputs, auto outputs, auto) {
        calibrator.observe(inputs);
        calibrator.observe(outputs);
      });
  if (interrupt_) return;
  calibration_.ranges = calibrator.ranges(calibration_.rule);
  calibration_.ranks = calibrator.ranks();
  calibration_.source = fmt::format("{} through {}", to_.data, runner().engine_name());
  origin_ = calibration_.source;
}

void Int8Pass::write_cache() const {
  if (to_.cache_file.empty()) return;
  write_file_atomic(to_.cache_file, onnx::calibration_to_json(calibration_));
  replace_file(to_.cache_file + ".trt", onnx::calibration_to_tensorrt(calibration_.ranges));
}

void Int8Pass::find_ranges(onnx::proto::ModelProto& model) {
  const auto values = onnx::place(model, {}).values();
  calibration_.model_sha256 = model_hash(spec_.model.file);
  calibration_.data_sha256 = hash_of_files(spec_.inference.input_files);
  calibration_.rule = {onnx::parse_range_method(to_.method), to_.percentile};
  calibration_.samples = spec_.inference.samples;
  if (use_cache(values)) return;
  calibrate(model, values);
  if (!interrupt_) write_cache();
}

void Int8Pass::study(onnx::proto::ModelProto& model) {
  if (to_.sensitivity_file.empty()) return;
  auto found = measure_sensitivity(model, calibration_.ranges, options(),
                                   spec_.inference.tolerance.centred_cosine, runner());
  found.method = method_text(calibration_.rule);
  found.data = to_.data;
  replace_file(to_.sensitivity_file, pass::sensitivity_json(found));
}

// Runs one inference to find ranks that the file does not declare.
onnx::Ranks Int8Pass::missing_ranks(onnx::proto::ModelProto& model) {
  onnx::Ranks ranks;
  const auto values = onnx::undeclared_ranks(model);
  if (values.empty()) return ranks;
  auto observed = onnx::with_outputs(model, values);
  runner().run(observed, 1, "ranks", [&](auto inputs, auto outputs, auto) {
    for (const auto tensors : {inputs, outputs})
      for (const auto& tensor : tensors) ranks[tensor.name] = static_cast<int>(tensor.shape.size());
  });
  return ranks;
}

// Engines read weights with one scale per channel from operator set 13 on.
void Int8Pass::raise_operator_set(onnx::proto::ModelProto& model) {
  const auto raised = onnx::raise_opset(model, missing_ranks(model));
  if (raised.to > raised.from)
    notes_.push_back(fmt::format("the file's operator set {} was raised to {}: its answers stay the same",
                                 raised.from, raised.to));
  if (raised.to >= onnx::kQuantiseOpset && raised.to < onnx::kPerChannelOpset)
    notes_.push_back(
        fmt::format("weights have one scale per tensor, which is less accurate: scales per channel need "
                    "operator set {}, and '{}' has no equivalent from set {} on; export the model with "
                    "operator set {} or later",
                    onnx::kPerChannelOpset, raised.stopped_by, raised.to + 1, onnx::kPerChannelOpset));
}

result::Quantisation Int8Pass::run(onnx::proto::ModelProto& model) {
  raise_operator_set(model);
  (void)onnx::place(model, options().placement);  // throws what is wrong before calibration costs time
  find_ranges(model);
  if (!interrupt_) study(model);
  if (interrupt_) return {};
  const auto report = onnx::quantise(model, calibration_.ranges, options());
  result::Quantisation q;
  q.precision = "int8";
  q.activations = report.activations;
  q.bias = report.bias;
  q.method = method_text(calibration_.rule);
  q.calibration = origin_;
  q.weight_bits = report.weight_bits;
  q.samples = calibration_.samples;
  q.layers = static_cast<std::int64_t>(report.layers.size());
  for (const auto& layer : report.float_layers) {
    q.float_layers.push_back(fmt::format("{} ({}): {}", layer.name, layer.op, layer.reason));
    if (layer.excluded) q.excluded.push_back(layer.name);
  }
  if (report.weight_bits < 8)
    notes_.emplace_back("7-bit weights: this CPU has no VNNI, and sums of 8-bit products would saturate");
  q.notes = notes_;
  return q;
}

result::Quantisation to_half(onnx::proto::ModelProto& model) {
  const auto report = onnx::cast_to_half(model);
  result::Quantisation q;
  q.precision = "fp16";
  q.activations = q.bias = "float16";
  q.weight_bits = 16;
  q.layers = report.half_nodes;
  for (const auto& name : report.islands) q.float_layers.push_back(name + ": loses too much in float16");
  for (const auto& name : report.control_flow)
    q.float_layers.push_back(name + ": a branch or loop, which stays in float32");
  if (report.clamped > 0) q.notes.push_back(fmt::format("{} weights beyond 65504 clamped", report.clamped));
  if (report.flushed > 0)
    q.notes.push_back(fmt::format("{} weights too small for float16 became 0", report.flushed));
  return q;
}

}  // namespace

void quantise_model(const pass::PassSpec& spec, pass::RecordSink& sink, const std::atomic<bool>& interrupt) {
  const auto& to = std::get<pass::QuantiseTo>(spec.task);
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  sink.emit(pass::phase_record("read"));
  auto model = onnx::read_model(spec.model.file);
  onnx::simplify(model);
  sink.emit(pass::phase_record("quantise"));
  const auto quantisation =
      to.precision == "int8" ? Int8Pass(spec, sink, interrupt).run(model) : to_half(model);
  if (interrupt) return;
  sink.emit(pass::phase_record("write"));
  onnx::write_model(model, to.file);
  const auto took = static_cast<double>(clock.now_ns() - begin);
  sink.emit(pass::prepared_record({"onnx", onnx::size_on_disk(to.file), took, quantisation}));
}

}  // namespace paceline::workload
