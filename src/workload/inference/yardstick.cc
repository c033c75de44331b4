// SPDX-License-Identifier: MIT
#include "workload/inference/yardstick.h"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/half.h"
#include "base/model_content.h"
#include "base/random.h"
#include "onnx/model_file.h"
#include "onnx/one_layer.h"
#include "onnx/summation_order.h"
#include "plugin/registry.h"
#include "workload/inference/gate/columns.h"
#include "workload/inference/gate/output_errors.h"
#include "workload/inference/gate/output_units.h"
#include "workload/inference/pass_parts.h"

namespace paceline::workload {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDraws = 2, kManyDraws = 8;   // the latter for the largest unit
constexpr double kRunNs = 0.5e9;                      // one changed run may take this long, but
constexpr std::int64_t kFewest = 4;                   // inputs are changed at least
constexpr std::int64_t kLargestCopy = 2'000'000'000;  // bytes of a file that is written again
constexpr int kLayersTried = 4;                       // one covers most outputs
constexpr const char* kGraphOptimization = "graph_optimization";
constexpr double kHalfUnits = 0x1p13, kBfloatUnits = 0x1p16;  // of theirs in float32's

// One unit in the last place of a type, in those of float32; 0: its values cannot be moved.
double units_of(DType dtype) {
  if (dtype == DType::kFloat32 || dtype == DType::kFloat64) return 1;
  if (dtype == DType::kFloat16) return kHalfUnits;
  return dtype == DType::kBFloat16 ? kBfloatUnits : 0;
}

template <typename T>
void for_each_value(Tensor& tensor, const std::function<T(T, std::size_t)>& change) {
  auto* values = tensor.as<T>();
  for (std::size_t i = 0; i < tensor.size_bytes() / sizeof(T); ++i) values[i] = change(values[i], i);
}

// Sixteen-bit floats are ordered like their bits; zeros, infinities and the largest values stay.
std::uint16_t moved_bits(std::uint16_t bits, bool up, std::uint16_t infinity) {
  const auto magnitude = static_cast<std::uint16_t>(bits & 0x7fffU);
  if (magnitude == 0 || magnitude + 1 >= infinity) return bits;
  return static_cast<std::uint16_t>(up ? bits + 1 : bits - 1);
}

// Moves every value up or down by one unit of float32, or of its type where that is coarser. Zeros do not
// move, nor does the lowest number, which is a mask.
void move(Tensor& tensor, std::uint64_t seed) {
  const CounterRng rng(seed, tensor.size_bytes());
  const auto up = [&](std::size_t i) { return (rng.bits(i) & 1) != 0; };
  switch (tensor.spec().dtype) {
    case DType::kFloat32:
      return for_each_value<float>(tensor, [&](float v, std::size_t i) {
        return v == 0 || !(std::abs(v) < FLT_MAX) ? v : std::nextafter(v, up(i) ? FLT_MAX : -FLT_MAX);
      });
    case DType::kFloat64:
      return for_each_value<double>(
          tensor, [&](double v, std::size_t i) { return v * (1 + (up(i) ? 0x1p-24 : -0x1p-24)); });
    case DType::kFloat16:
      return for_each_value<std::uint16_t>(
          tensor, [&](std::uint16_t v, std::size_t i) { return moved_bits(v, up(i), 0x7c00); });
    case DType::kBFloat16:
      return for_each_value<std::uint16_t>(
          tensor, [&](std::uint16_t v, std::size_t i) { return moved_bits(v, up(i), 0x7f80); });
    default:
      return;
  }
}

float rounded(float v) {
  return bfloat16_to_float(float_to_bfloat16(v));
}

void round_values(Tensor& tensor, std::uint64_t) {
  const DType dtype = tensor.spec().dtype;
  if (dtype == DType::kFloat32)
    return for_each_value<float>(tensor, [](float v, std::size_t) { return rounded(v); });
  if (dtype == DType::kFloat64)
    return for_each_value<double>(tensor,
                                  [](double v, std::size_t) { return rounded(static_cast<float>(v)); });
  move(tensor, 0);
}

using Change = void (*)(Tensor&, std::uint64_t);

// The first `batches` of the samples through an engine, changed on the way in.
ComparedOutputs run_changed(const pass::PassSpec& spec, plugin::Engine& engine, std::int64_t batches,
                            Change change, std::uint64_t seed) {
  ComparedOutputs outputs;
  for (std::int64_t b = 0; b < batches; ++b) {
    const Inputs inputs(spec, b, 1);
    std::vector<Tensor> copies;
    std::vector<TensorView> views = inputs.batch(b);
    for (auto& view : views) {
      Tensor& copy = copies.emplace_back(TensorSpec{view.name, view.dtype, view.shape});
      std::memcpy(copy.data(), view.data, copy.size_bytes());
      if (change) change(copy, seed + static_cast<std::uint64_t>(b) * kManyDraws);
      view = copy.view();
    }
    append_outputs(outputs, infer(engine, views), spec.batch, spec.inference.samples);
    engine.bind(0, inputs.batch(b));  // the copies end here
  }
  return outputs;
}

// Counts batches of inputs that the reference ran.
std::int64_t batches_of(const ComparedOutputs& outputs, const pass::PassSpec& spec) {
  for (const auto& [rows, left_out] : outputs)
    if (left_out.empty()) return rows.samples / spec.batch;
  return spec.inference.samples / spec.batch;
}

struct ScratchModel {
  explicit ScratchModel(std::string name) : file(std::move(name)) {}
  ScratchModel(const ScratchModel&) = delete;
  ScratchModel& operator=(const ScratchModel&) = delete;
  ~ScratchModel() {
    std::error_code ignored;
    fs::remove(file, ignored);
    fs::remove(file + ".data", ignored);
  }
  const std::string file;
};

bool all_finite(const std::vector<double>& values) {
  return std::ranges::all_of(values, [](double v) { return std::isfinite(v); });
}

class Study {
 public:
  Study(ComparedOutputs& outputs, const pass::PassSpec& spec, plugin::Engine& engine, double took_ns,
        const ReportPhase& phase);
  void run();

 private:
  using Series = std::vector<double>;  // mean squares of the changes by column; empty: none that is finite
  using Change = std::vector<Series>;  // by output

  Change squares_of(const ComparedOutputs& changed) const;
  Change rounding(const ComparedOutputs& changed);
  void set(Series Yardstick::*kind, const Change& change);
  [[nodiscard]] bool needs_more() const;
  static void raise(Change& largest, const Change& other);
  bool read_file();
  ComparedOutputs run_again(const pass::PassSpec& spec);
  ComparedOutputs run_file(const std::function<void(onnx::proto::ModelProto&)>& change, bool fused = false);
  void move_inputs();
  void move_weights();
  Change sums_in(onnx::SumOrder order, bool fused);
  void change_order();
  void round_layers();
  void round_inputs();
  void change_weights();
  std::optional<ComparedOutputs> with_weights(const std::string& changed);
  Yardstick* of(std::size_t i) {
    auto& yard = outputs_[i].rows.yardstick;
    return yard ? &*yard : nullptr;
  }

  ComparedOutputs& outputs_;
  const pass::PassSpec& spec_;
  plugin::Engine& engine_;
  const ReportPhase& phase_;
  std::int64_t batches_;
  std::uint64_t draws_ = kDraws;
  double units_ = 0;
  std::vector<Columns> columns_;  // by output
  onnx::proto::ModelProto model_;
};

// Labels are looked at for all inputs, because each may lie between two classes.
Study::Study(ComparedOutputs& outputs, const pass::PassSpec& spec, plugin::Engine& engine, double took_ns,
             const ReportPhase& phase)
    : outputs_(outputs), spec_(spec), engine_(engine), phase_(phase), batches_(batches_of(outputs, spec)) {
  bool labels = false;
  for (auto& [rows, left_out] : outputs_) {
    columns_.emplace_back(rows);
    if (!left_out.empty()) continue;
    rows.yardstick = Yardstick{};
    if (units_of(rows.dtype.value_or(DType::kFloat32)) > 0) continue;
    rows.yardstick->flips.assign(rows.values.size(), false);
    labels = true;
  }
  for (const auto& input : spec.model.inputs) units_ = std::max(units_, units_of(input.dtype));
  if (spec.inference.accuracy.every_change) draws_ = kManyDraws;
  if (labels || took_ns <= kRunNs) return;
  const std::int64_t least = std::min(batches_, (kFewest + spec.batch - 1) / spec.batch);
  const double fit = static_cast<double>(batches_) * kRunNs / took_ns;
  if (!spec.inference.accuracy.every_change) draws_ = 1;
  batches_ = std::clamp(static_cast<std::int64_t>(fit), least, batches_);
}

Study::Change Study::squares_of(const ComparedOutputs& changed) const {
  Change found(outputs_.size());
  for (std::size_t i = 0; i < std::min(outputs_.size(), changed.size()); ++i) {
    const auto& [rows, left_out] = outputs_[i];
    if (!left_out.empty() || !changed[i].left_out.empty()) continue;
    const auto& other = changed[i].rows.values;
    auto squares = columns_[i].means(changed[i].rows.samples, [&](std::size_t k) {
      const double d = difference(other[k], rows.values[k]);
      return d * d;
    });
    if (all_finite(squares)) found[i] = std::move(squares);
  }
  return found;
}

// Notes a change that a right engine may make as well: labels that differ by it may differ.
Study::Change Study::rounding(const ComparedOutputs& changed) {
  for (std::size_t i = 0; i < std::min(outputs_.size(), changed.size()); ++i) {
    auto* yard = of(i);
    if (!yard || !changed[i].left_out.empty()) continue;
    const auto &values = outputs_[i].rows.values, &other = changed[i].rows.values;
    for (std::size_t k = 0; k < std::min(other.size(), yard->flips.size()); ++k)
      yard->flips[k] = yard->flips[k] || other[k] != values[k];
  }
  return squares_of(changed);
}

void Study::set(Series Yardstick::*kind, const Change& change) {
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (auto* yard = of(i)) yard->*kind = change[i];
}

// Whether another change may set the unit. An engine within five of the first one is within five of a larger
// one, too.
bool Study::needs_more() const {
  return spec_.inference.accuracy.every_change || std::ranges::any_of(outputs_, [](const auto& output) {
           return output.left_out.empty() && output.rows.yardstick->flips.empty() && !has_unit(output.rows);
         });
}

void Study::raise(Change& largest, const Change& other) {
  for (std::size_t i = 0; i < largest.size(); ++i) {
    if (largest[i].empty()) largest[i] = other[i];
    for (std::size_t c = 0; c < std::min(largest[i].size(), other[i].size()); ++c)
      largest[i][c] = std::max(largest[i][c], other[i][c]);
  }
}

bool Study::read_file() {
  if (model_suffix(spec_.model.file) != ".onnx" || onnx::size_on_disk(spec_.model.file) > kLargestCopy)
    return false;
  model_ = onnx::read_model(spec_.model.file);
  return true;
}

// The model in a second engine of the same kind.
ComparedOutputs Study::run_again(const pass::PassSpec& spec) {
  const plugin::LoadedPlugin plugin(spec.plugin(plugin::Role::kEngine).file);
  const auto engine = plugin.make<plugin::Role::kEngine>(spec.engine());
  engine->load(spec.model, spec.settings);
  return run_changed(spec, *engine, batches_, nullptr, 0);
}

// A changed copy of the file; `fused`: after the rewrites that lose nothing, in engines that can be asked.
ComparedOutputs Study::run_file(const std::function<void(onnx::proto::ModelProto&)>& change, bool fused) {
  const ScratchModel scratch(spec_.inference.reference_file + ".scratch.onnx");
  auto copy = model_;
  change(copy);
  onnx::write_model(copy, scratch.file);
  auto spec = spec_;
  spec.model.file = scratch.file;
  if (fused && spec.settings.options.contains(kGraphOptimization))
    spec.settings.options[kGraphOptimization] = "basic";
  return run_again(spec);
}

void Study::move_inputs() {
  phase_("moved inputs");
  Change mean(outputs_.size());
  for (std::uint64_t draw = 0; draw < draws_; ++draw) {
    const auto found = rounding(run_changed(spec_, engine_, batches_, move, draw + 1));
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (draw == 0) mean[i].assign(found[i].size(), 0.0);
      if (found[i].empty()) mean[i].clear();
      for (std::size_t c = 0; c < mean[i].size(); ++c)
        mean[i][c] += found[i][c] / (static_cast<double>(draws_) * units_ * units_);
    }
  }
  set(&Yardstick::inputs, mean);
}

void Study::move_weights() {
  phase_("moved weights");
  set(&Yardstick::weights, rounding(run_file([](auto& copy) { onnx::move_all_weights(copy, 1); })));
}

// The model with its sums in this order, fused where that can be asked for; empty where there is no such sum.
Study::Change Study::sums_in(onnx::SumOrder order, bool fused) {
  auto copy = model_;
  try {
    if (onnx::sum_in_sequence(copy, order) > 0)
      return rounding(run_file([&](auto& model) { model = std::move(copy); }, fused));
  } catch (const Error&) {  // a sum of a type that the engine does not sum so
  }
  return Change(outputs_.size());
}

// Fused, and with long sums one element after the other: engines differ in both, and the larger counts.
void Study::change_order() {
  phase_("other order");
  const bool can_fuse = spec_.settings.options.contains(kGraphOptimization);
  Change largest(outputs_.size());
  if (can_fuse) largest = rounding(run_file([](auto&) {}, true));
  raise(largest, sums_in(onnx::SumOrder::kAxisByAxis, can_fuse));
  set(&Yardstick::order, largest);
  set(&Yardstick::at_once, sums_in(onnx::SumOrder::kAtOnce, can_fuse));
}

// One layer towards each output; a layer on the way to several is rounded once.
void Study::round_layers() {
  phase_("rounded layer");
  std::map<int, Change> known;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    auto* yard = of(i);
    const auto layers = onnx::layers_towards(model_, outputs_[i].rows.name);
    if (!yard || layers.empty()) continue;
    const auto& layer = layers[layers.size() / 2];
    if (!known.contains(layer.node)) {
      if (known.size() >= kLayersTried) continue;
      known[layer.node] = squares_of(run_file([&](auto& copy) { onnx::round_to_bfloat16(copy, layer); }));
    }
    yard->layer = known[layer.node][i], yard->layer_name = layer.name;
  }
}

void Study::round_inputs() {
  const bool wanted = std::ranges::any_of(outputs_, [](const auto& output) {
    return output.rows.yardstick && output.rows.yardstick->layer_name.empty();
  });
  if (!wanted || units_ == 0) return;
  const auto found = squares_of(run_changed(spec_, engine_, batches_, round_values, 0));
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (auto* yard = of(i); yard && yard->layer_name.empty())
      yard->layer = found[i], yard->layer_name = "the inputs";
}

// In an engine that can change weights itself; nothing where it cannot.
std::optional<ComparedOutputs> Study::with_weights(const std::string& changed) {
  auto spec = spec_;
  spec.settings.options["changed_weights"] = changed;
  try {
    return run_again(spec);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void Study::change_weights() {
  if (needs_more()) {
    phase_("moved weights");
    if (const auto moved = with_weights("ulp")) set(&Yardstick::weights, rounding(*moved));
  }
  if (needs_more()) {
    phase_("float64");
    if (const auto exact = with_weights("fp64")) set(&Yardstick::order, rounding(*exact));
  }
  phase_("rounded layer");
  const auto rounded = with_weights("bf16");
  if (!rounded) return;
  const auto found = squares_of(*rounded);
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (auto* yard = of(i); yard && std::ranges::any_of(found[i], [](double change) { return change > 0; }))
      yard->layer = found[i], yard->layer_name = "one layer";
}

// A change that the engine does not take leaves the others.
template <typename... Steps>
void attempt(Steps... steps) {
  const auto one = [](auto& step) {
    try {
      step();
    } catch (const Error&) {
    }
  };
  (one(steps), ...);
}

void Study::run() {
  if (units_ > 0) attempt([&] { move_inputs(); });
  if (read_file()) {
    if (needs_more()) attempt([&] { move_weights(); });
    if (spec_.inference.accuracy.unit_only) return;
    if (needs_more()) attempt([&] { change_order(); });
    attempt([&] { round_layers(); });
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (auto* yard = of(i)) yard->subnormal_weights = onnx::subnormal_share(model_);
  } else {
    change_weights();
  }
  attempt([&] { round_inputs(); });
}

}  // namespace

void add_yardsticks(ComparedOutputs& outputs, const pass::PassSpec& spec, plugin::Engine& engine,
                    double took_ns, const ReportPhase& phase) {
  Study(outputs, spec, engine, took_ns, phase).run();
}

}  // namespace paceline::workload
