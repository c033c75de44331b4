// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "onnx/proto.h"
#include "onnx/raise_opset.h"
#include "onnx/value_observer.h"

// Collects the ranges of activations, stores them and finds them again.
namespace paceline::onnx {

using Ranges = std::map<std::string, Range>;

// The model with these values as additional graph outputs. Graph inputs and outputs are left out, because
// their data is available.
proto::ModelProto with_outputs(const proto::ModelProto& model, const std::set<std::string>& values);

// Observers of many values.
class Calibrator {
 public:
  explicit Calibrator(std::set<std::string> values) : values_(std::move(values)) {}
  // Observes the tensors whose names were asked for. Throws Error(kData) for types other than float32.
  void observe(std::span<const TensorView> tensors);
  // Throws Error(kData) naming a value that was never seen, or that was NaN or infinite.
  [[nodiscard]] Ranges ranges(const RangeRule& rule) const;
  [[nodiscard]] const Ranks& ranks() const { return ranks_; }

 private:
  std::set<std::string> values_;
  std::map<std::string, ValueObserver> observers_;
  Ranks ranks_;
};

// The identity of a calibration and its result. Equal identities give equal ranges.
struct Calibration {
  std::string model_sha256, data_sha256;
  RangeRule rule;
  std::int64_t samples = 0;
  std::string source;  // the engine that ran it and the data, in words
  Ranges ranges;
  Ranks ranks{};  // of the same values
};

// Why `kept` cannot replace a calibration with the identity of `wanted` and these values; empty: it can.
std::string why_not_reusable(const Calibration& kept, const Calibration& wanted,
                             const std::set<std::string>& values);

std::string calibration_to_json(const Calibration& calibration);
// Throws Error(kData) when the text is not a calibration of ours.
Calibration calibration_from_json(const std::string& text, const std::string& name);

// TensorRT's calibration cache: "TRT-<version>-EntropyCalibration2", then "name: <scale as the hexadecimal
// bits of a float>", scale = max|x|/127. TensorRT only reads caches of its own version.
std::string calibration_to_tensorrt(const Ranges& ranges, int tensorrt_version = 100100);

}  // namespace paceline::onnx
