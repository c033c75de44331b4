// SPDX-License-Identifier: MIT
#include "tensorrt/message_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <regex>

#include "base/text.h"

namespace paceline::tensorrt_plugin {
namespace {

constexpr std::array<const char*, 5> kLevels{"internal error", "error", "warning", "info", "verbose"};

// Places in front of a sentence ("[builder.cpp::build::123] ", "IBuilder::buildSerializedNetwork: ", "Error
// Code 4: ", "In node 3 with name: … (importConv): INVALID_NODE: ", "Assertion failed: x == y: ") and behind
// it (" In build at builder.cpp:123").
const char* const kNoise =
    "^\\[[^\\]]*\\] ?|^\\w+::\\w+: |Error Code \\d+: |In node -?\\d+ with name: .*?\\(\\w+\\): \\w+: "
    "|Assertion failed: .*?: |"
    " ?In (function )?[\\w:~<>]+ at [\\w./-]+:\\d+";

}  // namespace

void MessageLog::log(Severity severity, const char* message) noexcept try {
  if (severity > Severity::kINFO) return;
  const std::scoped_lock lock(mutex_);
  if (severity <= Severity::kERROR && first_error_.empty()) first_error_ = message;
  if (severity == Severity::kWARNING && first_warning_.empty()) first_warning_ = message;
  if (file_.empty()) return;
  const auto level = static_cast<std::size_t>(std::max(0, static_cast<int>(severity)));
  std::ofstream(file_, std::ios::app) << '[' << kLevels.at(level) << "] " << message << '\n';
} catch (...) {  // a full disk must not stop the library
}

std::string MessageLog::reason() const {
  const std::scoped_lock lock(mutex_);
  const auto& words = first_error_.empty() ? first_warning_ : first_error_;
  return words.empty() ? "it does not say why" : plain_words(words);
}

bool MessageLog::complained() const {
  const std::scoped_lock lock(mutex_);
  return !first_error_.empty() || !first_warning_.empty();
}

void MessageLog::reset() {
  const std::scoped_lock lock(mutex_);
  first_error_.clear();
  first_warning_.clear();
}

std::string plain_words(std::string_view message) {
  std::string text(message);
  std::replace(text.begin(), text.end(), '\n', ' ');
  const std::regex noise(kNoise);
  for (std::string before; before != text;) {  // one removal may bring further noise to the front
    before = text;
    text = std::string(trim(std::regex_replace(text, noise, "")));
  }
  return text;
}

}  // namespace paceline::tensorrt_plugin
