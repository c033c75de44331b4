// SPDX-License-Identifier: MIT
#pragma once
#include <NvInfer.h>

#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace paceline::tensorrt_plugin {

// What the library says. Everything but its most detailed messages is appended to a file, where there is one;
// the first error and the first warning since the last reset are kept for messages of ours. Called from the
// library's threads.
class MessageLog : public nvinfer1::ILogger {
 public:
  explicit MessageLog(std::string file = "") : file_(std::move(file)) {}
  void log(Severity severity, const char* message) noexcept override;
  // That error in plain words, else that warning; "it does not say why" when there was none.
  [[nodiscard]] std::string reason() const;
  [[nodiscard]] bool complained() const;  // whether there was one
  void reset();

 private:
  std::string file_;
  mutable std::mutex mutex_;
  std::string first_error_, first_warning_;
};

// A message in one line, without the places in the library's own sources.
std::string plain_words(std::string_view message);

}  // namespace paceline::tensorrt_plugin
