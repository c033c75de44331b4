// SPDX-License-Identifier: MIT
#pragma once
#include <NvInfer.h>

#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace paceline::tensorrt_plugin {

// Collects TensorRT's messages for the log file and for the reason of a failure. All but its most detailed
// messages are appended to a file, where there is one; the first error and the first warning since the last
// reset are kept for our messages. Called from the library's threads.
class MessageLog : public nvinfer1::ILogger {
 public:
  explicit MessageLog(std::string file = "") : file_(std::move(file)) {}
  void log(Severity severity, const char* message) noexcept override;
  // That error in plain words, else that warning; without one "it does not say why".
  [[nodiscard]] std::string reason() const;
  [[nodiscard]] bool complained() const;  // whether there was an error
  void reset();

 private:
  std::string file_;
  mutable std::mutex mutex_;
  std::string first_error_, first_warning_;
};

// A message in one line, without places in the library's sources.
std::string plain_words(std::string_view message);

}  // namespace paceline::tensorrt_plugin
