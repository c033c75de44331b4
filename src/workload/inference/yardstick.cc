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
#include "plugin/registry.h"
#include "workload/inference/output_errors.h"
#include "workload/inference/pass_parts.h"

namespace paceline::workload {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDraws = 2;
constexpr double kSlowNs = 2.5e9;                             // above: the first batches stand for all
constexpr std::int64_t kFewest = 4;                           // of the inputs that are changed
constexpr std::int64_t kLargestCopy = 2'000'000'000;          // bytes of a file that is written again
constexpr int kLayersTried = 4;                               // one covers most outputs
constexpr double kBeyondAll = FLT_MAX;                        // a change that leads to infinity or NaN
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

void round_values(Tensor& tensor, std::uint64_t) {
  if (tensor.spec().dtype != DType::kFloat32) return move(tensor, 0);
  for_each_value<float>(tensor, [](float v, std::size_t) { return bfloat16_to_float(float_to_bfloat16(v)); });
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
      if (change) change(copy, seed + static_cast<std::uint64_t>(b) * kDraws);
      view = copy.view();
    }
    append_outputs(outputs, infer(engine, views), spec.batch, spec.samples);
    engine.bind(0, inputs.batch(b));  // the copies end here
  }
  return outputs;
}

ComparedRows first_samples(const ComparedRows& rows, std::int64_t count) {
  std::vector<std::int64_t> samples;
  for (std::int64_t s = 0; s < count; ++s) samples.push_back(s);
  return select_samples(rows, samples);
}

// Half a unit in the last place of the outputs themselves; what may be flushed is below it.
double rms_of_half_units(const ComparedRows& rows) {
  double sum = 0;
  for (const float v : rows.values) {
    const double half = 0.5 * (static_cast<double>(std::nextafter(std::abs(v), HUGE_VALF)) -
                               static_cast<double>(std::abs(v)));
    sum += half * half;
  }
  const double rms = std::sqrt(sum / std::max<double>(1, static_cast<double>(rows.values.size())));
  return std::max(rms, static_cast<double>(FLT_MIN));
}

// Of inputs that the reference ran.
std::int64_t batches_of(const ComparedOutputs& outputs, const pass::PassSpec& spec) {
  for (const auto& [rows, left_out] : outputs)
    if (left_out.empty()) return rows.samples / spec.batch;
  return spec.samples / spec.batch;
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

class Study {
 public:
  Study(ComparedOutputs& outputs, const pass::PassSpec& spec, plugin::Engine& engine, double took_ns)
      : outputs_(outputs), spec_(spec), engine_(engine), batches_(batches_of(outputs, spec)) {
    if (took_ns > kSlowNs)
      batches_ = std::clamp(static_cast<std::int64_t>(static_cast<double>(batches_) * kSlowNs / took_ns),
                            std::min(batches_, (kFewest + spec.batch - 1) / spec.batch), batches_);
    for (const auto& input : spec.model.inputs) units_ = std::max(units_, units_of(input.dtype));
  }
  void run();

 private:
  using Rms = std::vector<double>;  // per output
  Rms changes(const ComparedOutputs& changed) const;
  bool read_file();
  ComparedOutputs run_again(const pass::PassSpec& spec);
  ComparedOutputs run_file(const std::function<void(onnx::proto::ModelProto&)>& change);
  void move_inputs();
  void move_first_layer();
  void round_layers();
  void round_inputs();
  std::optional<Rms> with_weights(const std::string& changed);
  void change_weights();
  Yardstick* of(std::size_t i) {
    auto& output = outputs_[i];
    return output.left_out.empty()
               ? &output.rows.yardstick.emplace(output.rows.yardstick.value_or(Yardstick{}))
               : nullptr;
  }

  ComparedOutputs& outputs_;
  const pass::PassSpec& spec_;
  plugin::Engine& engine_;
  std::int64_t batches_;
  double units_ = 0;
  onnx::proto::ModelProto model_;
};

Study::Rms Study::changes(const ComparedOutputs& changed) const {
  Rms found;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const bool both = i < changed.size() && outputs_[i].left_out.empty() && changed[i].left_out.empty();
    const double change =
        both ? rms_difference(first_samples(outputs_[i].rows, changed[i].rows.samples), changed[i].rows)
             : 0.0;
    found.push_back(std::isfinite(change) ? change : kBeyondAll);
  }
  return found;
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

// A changed copy of the file.
ComparedOutputs Study::run_file(const std::function<void(onnx::proto::ModelProto&)>& change) {
  const ScratchModel scratch(spec_.reference_file + ".scratch.onnx");
  auto copy = model_;
  change(copy);
  onnx::write_model(copy, scratch.file);
  auto spec = spec_;
  spec.model.file = scratch.file;
  return run_again(spec);
}

void Study::move_inputs() {
  std::vector<double> squares(outputs_.size(), 0.0);
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    const auto found = changes(run_changed(spec_, engine_, batches_, move, draw + 1));
    for (std::size_t i = 0; i < found.size(); ++i) squares[i] += found[i] * found[i] / kDraws;
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (auto* yard = of(i)) yard->ulp = std::sqrt(squares[i]) / units_, yard->moved = "inputs";
}

// For models whose inputs are integers: the first layer is usually the table that they index.
void Study::move_first_layer() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (!outputs_[i].left_out.empty()) continue;
    const auto layers = onnx::layers_towards(model_, outputs_[i].rows.name);
    if (layers.empty()) continue;
    double squares = 0;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
      const auto found =
          changes(run_file([&](auto& copy) { onnx::move_weights(copy, layers.front(), draw + 1); }));
      squares += found[i] * found[i] / kDraws;
    }
    auto* yard = of(i);
    yard->ulp = std::sqrt(squares), yard->moved = fmt::format("weights of {}", layers.front().name);
  }
}

// One layer towards each output; a layer on the way to several is rounded once.
void Study::round_layers() {
  std::map<int, Rms> known;
  const auto moved = changes(run_file([](auto& copy) { onnx::move_all_weights(copy, 1); }));
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    auto* yard = of(i);
    if (!yard) continue;
    yard->weights = moved[i];
    const auto layers = onnx::layers_towards(model_, outputs_[i].rows.name);
    if (layers.empty()) continue;
    const auto& layer = layers[layers.size() / 2];
    if (!known.contains(layer.node)) {
      if (known.size() >= kLayersTried) continue;
      known[layer.node] = changes(run_file([&](auto& copy) { onnx::round_to_bfloat16(copy, layer); }));
    }
    yard->layer = known[layer.node][i], yard->layer_name = layer.name;
  }
}

void Study::round_inputs() {
  const bool wanted = std::ranges::any_of(outputs_, [](const auto& output) {
    return output.rows.yardstick && output.rows.yardstick->layer_name.empty();
  });
  if (!wanted || units_ == 0) return;
  const auto found = changes(run_changed(spec_, engine_, batches_, round_values, 0));
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (auto* yard = of(i); yard && yard->layer_name.empty())
      yard->layer = found[i], yard->layer_name = "the inputs";
}

// An engine that can change weights itself; nothing where it cannot, or where nothing comes of it.
std::optional<Study::Rms> Study::with_weights(const std::string& changed) {
  auto spec = spec_;
  spec.settings.options["changed_weights"] = changed;
  try {
    const auto found = changes(run_again(spec));
    const bool heeded = std::ranges::any_of(found, [](double change) { return change > 0; });
    return heeded ? std::optional(found) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void Study::change_weights() {
  const auto rounded = with_weights("bf16");
  const auto moved = with_weights("ulp");
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    auto* yard = of(i);
    if (yard && rounded) yard->layer = (*rounded)[i], yard->layer_name = "one layer";
    if (yard && moved) yard->weights = (*moved)[i];
    if (yard && moved && units_ == 0) yard->ulp = (*moved)[i], yard->moved = "weights";
  }
}

void Study::run() {
  const bool file = read_file();
  if (units_ > 0)
    move_inputs();
  else if (file)
    move_first_layer();
  if (file)
    round_layers();
  else
    change_weights();
  round_inputs();
  for (auto& [rows, left_out] : outputs_) {
    if (!rows.yardstick) continue;
    auto& yard = *rows.yardstick;
    // Nothing could be moved, or it led to infinity: nothing is known.
    if (yard.layer_name.empty() || yard.moved.empty() || yard.ulp >= kBeyondAll) {
      rows.yardstick.reset();
      continue;
    }
    yard.ulp = std::max(yard.ulp, rms_of_half_units(rows));
    yard.depends = rms_of_what_depends(rows);
    if (file) yard.subnormal_weights = onnx::subnormal_share(model_);
  }
}

}  // namespace

void add_yardsticks(ComparedOutputs& outputs, const pass::PassSpec& spec, plugin::Engine& engine,
                    double took_ns) {
  try {
    Study(outputs, spec, engine, took_ns).run();
  } catch (const Error&) {  // a copy that the engine does not take: the reference stands without a unit
    for (auto& output : outputs) output.rows.yardstick.reset();
  }
}

}  // namespace paceline::workload
