// SPDX-License-Identifier: MIT
#pragma once
#include <NvInfer.h>
#include <NvOnnxParser.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paceline::tensorrt_plugin {

// The library opened in this process: TensorRT, or its sibling TensorRT-RTX behind the same interface. Each
// object is null where the library refuses; it tells the logger why.
class Library {
 public:
  // Looks below $TENSORRT_ROOT, else where the system keeps libraries. Throws Error(kUnavailable) when there
  // is none, or one for other headers than this plug-in was built with.
  Library();
  [[nodiscard]] const std::string& title() const { return title_; }  // TensorRT | TensorRT-RTX
  [[nodiscard]] const std::string& version() const { return version_; }
  // TensorRT-RTX: its interface is TensorRT 11's in what builds; in the rest calls differ.
  [[nodiscard]] bool builds_only() const { return title_ != "TensorRT"; }
  [[nodiscard]] int major_version() const { return major_; }
  [[nodiscard]] std::unique_ptr<nvinfer1::IBuilder> make_builder(nvinfer1::ILogger& logger) const;
  [[nodiscard]] std::unique_ptr<nvinfer1::IRuntime> make_runtime(nvinfer1::ILogger& logger) const;
  // Opens the parser's own library. Throws Error(kUnavailable) when it is not beside the other.
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
