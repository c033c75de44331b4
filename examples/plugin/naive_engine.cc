// SPDX-License-Identifier: MIT
// A whole engine plug-in: model "affine", y = W x + b, in plain loops.
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/tensor.h"
#include "plugin/plugin.h"

namespace {
using paceline::DType;
using paceline::Error;
using paceline::ErrorCode;
using paceline::Tensor;
using paceline::TensorView;
namespace plugin = paceline::plugin;
constexpr std::size_t kOutputs = 8;

// One input [batch, features] and one output [batch, kOutputs] per slot.
struct Bound {
  TensorView input;
  Tensor output;
  std::vector<TensorView> views;
};

std::vector<float> seeded(std::size_t count, std::uint64_t seed, std::string_view what) {
  const paceline::CounterRng random(seed, paceline::hash64(what));
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(random.uniform(i) - 0.5);
  return values;
}

class NaiveEngine final : public plugin::Engine {
 public:
  plugin::EngineInfo info() const override { return {"naive", {{"naive", "1.0"}}, {{"threads", "1"}}}; }

  void load(const plugin::ModelSpec& model, const plugin::EngineSettings& settings) override {
    if (model.name != "affine")
      throw Error(ErrorCode::kUsage, "engine naive has no model '" + model.name + "'; it has: affine");
    if (settings.precision != "fp32")
      throw Error(ErrorCode::kUnsupported, "engine naive computes in fp32, not in " + settings.precision);
    if (model.inputs.size() != 1 || model.inputs[0].shape.size() != 2 ||
        model.inputs[0].dtype != DType::kFloat32)
      throw Error(ErrorCode::kUsage,
                  "model affine takes one float32 input [batch, features]; give --shapes x:4x16");
    features_ = static_cast<std::size_t>(model.inputs[0].shape[1]);
    weight_ = seeded(kOutputs * features_, model.weights_seed, "weight");
    bias_ = seeded(kOutputs, model.weights_seed, "bias");
  }

  void bind(plugin::Slot slot, std::span<const TensorView> inputs) override {
    Bound& bound = slots_[slot];
    bound.input = inputs[0];
    bound.output = Tensor({"y", DType::kFloat32, {bound.input.shape[0], kOutputs}});
    bound.views = {bound.output.view()};
  }

  void enqueue(plugin::Slot slot) override {
    Bound& bound = slots_.at(slot);
    const auto* x = static_cast<const float*>(bound.input.data);
    auto* y = bound.output.as<float>();
    for (std::int64_t row = 0; row < bound.input.shape[0]; ++row, x += features_)
      for (std::size_t o = 0; o < kOutputs; ++o) *y++ = dot(x, o) + bias_[o];
  }

  std::span<const TensorView> synchronize(plugin::Slot slot) override { return slots_.at(slot).views; }

  plugin::ReadBack read_back(plugin::Slot) override {
    return {.precisions = {{"fp32", 1.0, 1}}, .source = "its own code", .peak_tensor_bytes = {}, .flops = {}};
  }

 private:
  float dot(const float* x, std::size_t output) const {
    float sum = 0;
    for (std::size_t i = 0; i < features_; ++i) sum += weight_[output * features_ + i] * x[i];
    return sum;
  }

  std::size_t features_ = 0;
  std::vector<float> weight_, bias_;
  std::map<plugin::Slot, Bound> slots_;
};

std::unique_ptr<plugin::Engine> make_naive() {
  return std::make_unique<NaiveEngine>();
}
std::vector<std::pair<std::string, std::string>> versions() {
  return {{"naive", "1.0"}};
}
constexpr plugin::EngineEntry kEngines[] = {{"naive", "an affine model in plain loops", make_naive}};
constexpr plugin::Plugin kNaive{plugin::kAbiVersion, "naive", versions, kEngines};
}  // namespace

PACELINE_PLUGIN(kNaive)
