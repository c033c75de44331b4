// SPDX-License-Identifier: MIT
#include "onnx/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/json.h"
#include "onnx/graph.h"

namespace paceline::onnx {
namespace {

constexpr const char* kFormat = "paceline-calibration";
constexpr int kVersion = 1;

}  // namespace

proto::ModelProto with_outputs(const proto::ModelProto& model, const std::set<std::string>& values) {
  proto::ModelProto extended = model;
  auto& graph = *extended.mutable_graph();
  std::set<std::string> at_hand;
  for (const auto& info : graph.output()) at_hand.insert(info.name());
  for (const auto& info : graph.input()) at_hand.insert(info.name());
  for (const auto& name : values) {
    if (at_hand.contains(name)) continue;
    auto& info = *graph.add_output();
    info.set_name(name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(proto::TensorProto::FLOAT);
  }
  return extended;
}

void Calibrator::observe(std::span<const TensorView> tensors) {
  for (const auto& tensor : tensors) {
    if (!values_.contains(tensor.name)) continue;
    if (tensor.dtype != DType::kFloat32)
      throw Error(ErrorCode::kData, fmt::format("'{}' is {}, only float32 can be calibrated", tensor.name,
                                                dtype_name(tensor.dtype)));
    ranks_[tensor.name] = static_cast<int>(tensor.shape.size());
    observers_[tensor.name].add(
        {static_cast<const float*>(tensor.data), static_cast<std::size_t>(element_count(tensor.shape))});
  }
}

Ranges Calibrator::ranges(const RangeRule& rule) const {
  Ranges ranges;
  for (const auto& value : values_) {
    const auto it = observers_.find(value);
    if (it == observers_.end() || it->second.count() + it->second.not_finite() == 0)
      throw Error(
          ErrorCode::kData,
          fmt::format("calibration saw no data of '{}'; the engine did not give it as an output", value));
    if (it->second.not_finite() > 0)
      throw Error(ErrorCode::kData, fmt::format("calibration saw {} values of '{}' that are NaN or infinite; "
                                                "check the weights and the calibration data",
                                                it->second.not_finite(), value));
    ranges[value] = it->second.range(rule);
  }
  return ranges;
}

std::string why_not_reusable(const Calibration& kept, const Calibration& wanted,
                             const std::set<std::string>& values) {
  if (kept.model_sha256 != wanted.model_sha256) return "it belongs to another model";
  if (kept.data_sha256 != wanted.data_sha256) return "it was made from other data";
  if (!(kept.rule == wanted.rule) || kept.samples != wanted.samples)
    return fmt::format("it was made with {} over {} samples", range_method_name(kept.rule.method),
                       kept.samples);
  for (const auto& value : values)
    if (!kept.ranges.contains(value) || !kept.ranks.contains(value))
      return fmt::format("it has no {} of '{}'", kept.ranges.contains(value) ? "rank" : "range", value);
  return {};
}

std::string calibration_to_json(const Calibration& c) {
  nlohmann::ordered_json json = {{"format", kFormat},
                                 {"version", kVersion},
                                 {"model_sha256", c.model_sha256},
                                 {"data_sha256", c.data_sha256},
                                 {"method", range_method_name(c.rule.method)},
                                 {"percentile", nullptr},
                                 {"samples", c.samples},
                                 {"source", c.source}};
  if (c.rule.method == RangeMethod::kPercentile) json["percentile"] = c.rule.percentile;
  auto& ranges = json["ranges"] = nlohmann::ordered_json::object();
  for (const auto& [name, range] : c.ranges) ranges[name] = {range.low, range.high};
  json["ranks"] = c.ranks;
  return json.dump(1) + "\n";
}

Calibration calibration_from_json(const std::string& text, const std::string& name) {
  try {
    const auto json = parsed_json(text);
    if (json.at("format") != kFormat || json.at("version") != kVersion)
      throw Error(ErrorCode::kData, fmt::format("'{}' is a calibration of another version", name));
    Calibration c{json.at("model_sha256"),      json.at("data_sha256"), {},
                  json.at("samples"),           json.at("source"),      {},
                  json.at("ranks").get<Ranks>()};
    c.rule.method = parse_range_method(json.at("method").get<std::string>());
    if (!json.at("percentile").is_null()) c.rule.percentile = json.at("percentile");
    for (const auto& [value, range] : json.at("ranges").items()) c.ranges[value] = {range.at(0), range.at(1)};
    return c;
  } catch (const nlohmann::json::exception& e) {
    throw Error(
        ErrorCode::kData,
        fmt::format("'{}' is no calibration cache: {}; delete it to calibrate again", name, plain_reason(e)));
  }
}

std::string calibration_to_tensorrt(const Ranges& ranges, int tensorrt_version) {
  std::string text = fmt::format("TRT-{}-EntropyCalibration2\n", tensorrt_version);
  for (const auto& [name, range] : ranges) {
    const float scale = std::max(std::abs(range.low), std::abs(range.high)) / 127.0F;
    text += fmt::format("{}: {:08x}\n", name, std::bit_cast<std::uint32_t>(scale));
  }
  return text;
}

}  // namespace paceline::onnx
