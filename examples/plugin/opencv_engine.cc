// SPDX-License-Identifier: MIT
// OpenCV's deep-learning module as an engine: runs ONNX files on the CPU, one after the other on one network.
#include <algorithm>
#include <map>
#include <memory>
#include <opencv2/dnn.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/tensor.h"
#include "plugin/plugin.h"

namespace {
using paceline::DType;
using paceline::Error;
using paceline::ErrorCode;
using paceline::TensorView;
namespace plugin = paceline::plugin;

std::vector<int> cv_shape(const std::vector<std::int64_t>& shape) {
  return {shape.begin(), shape.end()};
}

// Converts OpenCV's exceptions, with the user's file and without OpenCV's source lines.
template <typename Call>
auto translated(ErrorCode code, const std::string& what, const Call& call) {
  try {
    return call();
  } catch (const cv::Exception& e) {
    throw Error(code, what + ": " + std::string(e.err.empty() ? e.what() : e.err));
  }
}

// The caller's inputs as OpenCV sees them (no copy) and the outputs of the last inference (a copy).
struct Bound {
  std::vector<std::string> names;
  std::vector<cv::Mat> inputs;
  std::vector<cv::Mat> outputs;
  std::vector<TensorView> views;
};

class OpenCvEngine final : public plugin::Engine {
 public:
  plugin::EngineInfo info() const override {
    return {"opencv",
            {{"OpenCV", cv::getVersionString()}},
            {{"threads", std::to_string(cv::getNumThreads())}, {"backend", "opencv"}, {"target", "cpu"}}};
  }

  void load(const plugin::ModelSpec& model, const plugin::EngineSettings& settings) override {
    check(model, settings);
    cv::setNumThreads(settings.threads);
    net_ = translated(ErrorCode::kData,
                      "OpenCV cannot read '" + model.file + "'; export it again, or copy it whole",
                      [&] { return cv::dnn::readNetFromONNX(model.file); });
    net_.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    net_.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
    output_names_ = net_.getUnconnectedOutLayersNames();
    input_shapes_.clear();
    for (const auto& input : model.inputs) input_shapes_.push_back(cv_shape(input.shape));
  }

  void bind(plugin::Slot slot, std::span<const TensorView> inputs) override {
    Bound& bound = slots_[slot] = {};
    for (const auto& input : inputs) {
      bound.names.push_back(input.name);
      bound.inputs.emplace_back(cv_shape(input.shape), CV_32F, input.data);
    }
  }

  void enqueue(plugin::Slot slot) override {
    Bound& bound = slots_.at(slot);
    translated(ErrorCode::kUsage, "OpenCV cannot run the model on these inputs", [&] {
      for (std::size_t i = 0; i < bound.inputs.size(); ++i) net_.setInput(bound.inputs[i], bound.names[i]);
      net_.forward(results_, output_names_);
    });
    bound.outputs.resize(results_.size());
    for (std::size_t i = 0; i < results_.size(); ++i) results_[i].copyTo(bound.outputs[i]);
  }

  std::span<const TensorView> synchronize(plugin::Slot slot) override {
    Bound& bound = slots_.at(slot);
    bound.views.clear();
    for (std::size_t i = 0; i < bound.outputs.size(); ++i) bound.views.push_back(view(i, bound.outputs[i]));
    return bound.views;
  }

  plugin::ReadBack read_back(plugin::Slot slot) override {
    enqueue(slot);
    plugin::ReadBack seen{
        .precisions = {}, .source = "types of OpenCV's layers", .peak_tensor_bytes = {}, .flops = {}};
    std::vector<double> ticks;
    net_.getPerfProfile(ticks);
    const auto names = net_.getLayerNames();
    for (std::size_t i = 0; i < names.size(); ++i)
      seen.layers.push_back(layer(names[i], i < ticks.size() ? ticks[i] : 0));
    add_shares(seen);
    return seen;
  }

 private:
  static void check(const plugin::ModelSpec& model, const plugin::EngineSettings& settings) {
    if (model.file.empty())
      throw Error(ErrorCode::kUnsupported,
                  "engine opencv reads ONNX files; write one with: paceline export --model " + model.name +
                      " --out " + model.name + ".onnx");
    if (settings.precision != "fp32")
      throw Error(ErrorCode::kUnsupported, "engine opencv computes in fp32, not in " + settings.precision);
    for (const auto& input : model.inputs)
      if (input.dtype != DType::kFloat32)
        throw Error(ErrorCode::kUnsupported,
                    "engine opencv takes float32 inputs, and '" + input.name + "' is none");
  }

  TensorView view(std::size_t index, cv::Mat& output) const {
    return {output_names_[index],
            output.data,
            DType::kFloat32,
            {output.size.p, output.size.p + output.dims},
            {},
            {}};
  }

  // A layer that OpenCV fused into its neighbour took no time. Quantised layers end in "Int8".
  plugin::Layer layer(const std::string& name, double ticks) {
    const int id = net_.getLayerId(name);
    plugin::Layer made{
        .name = name, .type = net_.getLayer(id)->type, .precision = {}, .time_ns = {}, .flops = {}};
    made.precision = made.type.ends_with("Int8") ? "int8" : "fp32";
    made.time_ns = ticks / cv::getTickFrequency() * 1e9;
    if (made.type.starts_with("Convolution") || made.type.starts_with("InnerProduct"))
      made.flops = static_cast<double>(net_.getFLOPS(id, input_shapes_));
    return made;
  }

  static void add_shares(plugin::ReadBack& seen) {
    double total = 0;
    for (const auto& layer : seen.layers) total += layer.flops.value_or(0);
    for (const std::string precision : {"fp32", "int8"}) {
      plugin::PrecisionShare share{precision, 0, 0};
      for (const auto& layer : seen.layers)
        if (layer.flops && layer.precision == precision)
          share.flops_share += *layer.flops / total, ++share.operators;
      if (share.operators > 0) seen.precisions.push_back(share);
    }
    if (total > 0) seen.flops = total;
  }

  cv::dnn::Net net_;
  std::vector<std::string> output_names_;
  std::vector<cv::dnn::MatShape> input_shapes_;
  std::vector<cv::Mat> results_;
  std::map<plugin::Slot, Bound> slots_;
};

std::unique_ptr<plugin::Engine> make_opencv() {
  return std::make_unique<OpenCvEngine>();
}
std::vector<std::pair<std::string, std::string>> versions() {
  return {{"OpenCV", cv::getVersionString()}};
}
constexpr plugin::EngineEntry kEngines[] = {
    {"opencv", "OpenCV's deep-learning module on the CPU (.onnx files)", make_opencv}};
constexpr plugin::Plugin kOpenCv{plugin::kAbiVersion, "opencv", versions, kEngines};
}  // namespace

PACELINE_PLUGIN(kOpenCv)
