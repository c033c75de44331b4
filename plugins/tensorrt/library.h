// SPDX-License-Identifier: MIT
// Opens TensorRT or TensorRT-RTX and its ONNX parser at run time, and reads their versions.
#pragma once
#include <NvInfer.h>
#include <NvOnnxParser.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paceline::tensorrt_plugin {

// The library opened in this process: TensorRT, or its sibling TensorRT-RTX behind the same interface. An
// object is null where the library refuses; the logger gets the reason.
class Library {
 public:
  // Looks below $TENSORRT_ROOT, else where the system keeps libraries. Throws Error(kUnavailable) when there
  // is none, or one that does not fit the headers that this plug-in was built with.
  Library();
  [[nodiscard]] const std::string& title() const { return title_; }  // TensorRT | TensorRT-RTX
  [[nodiscard]] const std::string& version() const { return version_; }
  // For TensorRT-RTX: its interface for builds is that of TensorRT 11; the rest differs.
  [[nodiscard]] bool builds_only() const { return title_ != "TensorRT"; }
  [[nodiscard]] int major_version() const { return major_; }
  [[nodiscard]] std::unique_ptr<nvinfer1::IBuilder> make_builder(nvinfer1::ILogger& logger) const;
  [[nodiscard]] std::unique_ptr<nvinfer1::IRuntime> make_runtime(nvinfer1::ILogger& logger) const;
  // Opens the library of the parser. Throws Error(kUnavailable) if it is not in the other's folder.
  [[nodiscard]] std::unique_ptr<nvonnxparser::IParser> make_parser(nvinfer1::INetworkDefinition& network,
                                                                   nvinfer1::ILogger& logger) const;

 private:
  void describe(std::string_view title, std::string parser_file);

  std::string title_, version_, parser_file_;
  int major_ = 0;
  void* handle_ = nullptr;
};

const Library& library();  // opened once, never closed: vendor libraries do not survive it

std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace paceline::tensorrt_plugin
