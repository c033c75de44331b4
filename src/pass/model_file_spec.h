// SPDX-License-Identifier: MIT
// Tasks of passes that write a model as a file: export, quantise, build.
#pragma once
#include <string>
#include <vector>

#include "plugin/builder.h"
#include "plugin/exporter.h"

namespace paceline::pass {

// Output of an export pass.
struct ExportTo {
  static constexpr const char* kField = "export_to";
  std::string format;  // onnx | torchscript
  std::string file;
  plugin::ExportSettings settings;
};

// Output of a quantise pass, from the ONNX file that is the pass's model. Its inputs are calibration data.
struct QuantiseTo {
  static constexpr const char* kField = "quantise_to";
  std::string file;
  std::string precision;    // int8 | fp16
  std::string activations;  // uint8 (ONNX Runtime, OpenVINO) | int8 (TensorRT)
  std::string method;       // minmax | percentile | entropy
  double percentile = 99.99;
  std::vector<std::string> exclude;  // layers that stay float
  bool reduce_range = false;         // 7-bit weights
  std::string cache_file;            // calibration as JSON, read when it fits; FILE.trt is TensorRT's form
  std::string data;                  // what the calibration data are, in words
  std::string sensitivity_file;      // error of each layer alone, as JSON; empty: not wanted
};

// Output of a build pass, from the ONNX file that is the pass's model; engine, precision and options are the
// pass's.
struct BuildTo {
  static constexpr const char* kField = "build_to";
  std::string file;
  std::string log_file;
  std::vector<ShapeProfile> profiles;
};

}  // namespace paceline::pass
