// SPDX-License-Identifier: MIT
#include "openvino/errors.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/text.h"
#include "support/engine_checks.h"

namespace paceline::openvino_plugin {
namespace {

// Lines that only name a place in OpenVINO's sources or repeat what is known.
bool is_noise(std::string_view line) {
  constexpr std::string_view kStarts[] = {"Exception from src/", "Check '", "FrontEnd API failed with",
                                          "Model wasn't fully converted", "Summary:"};
  return std::any_of(std::begin(kStarts), std::end(kStarts),
                     [&](std::string_view start) { return line.starts_with(start); });
}

using plugin_support::kDamagedAdvice;
using plugin_support::kOperatorAdvice;
using plugin_support::kUnsupportedHere;
constexpr std::string_view kWeightsAdvice =
    "the .bin file beside the .xml is missing or another model's; copy both";

constexpr plugin_support::Advice kAdvice[] = {
    {"Unable to read the model", kDamagedAdvice},
    {"Model can't be parsed", kDamagedAdvice},
    {" at offset ", kDamagedAdvice},
    {"size of the initializer", kDamagedAdvice},
    {"Empty weights data", kWeightsAdvice},
    {"Incorrect weights", kWeightsAdvice},
    {"No conversion rule found", kOperatorAdvice, kUnsupportedHere},
    {"doesn't contain the operation", kOperatorAdvice, kUnsupportedHere},
    {"Unsupported operator version", kOperatorAdvice, kUnsupportedHere},
    {"invalid external data", plugin_support::kDataFileAdvice},
};

// Some of its parts hand on the name of the exception as text, or ask for more than a vector can hold.
bool lacks_memory(const std::exception& exception, std::string_view reason) {
  constexpr std::string_view kWords[] = {"bad_alloc", "bad_array_new_length", "max_size()", "length_error"};
  return dynamic_cast<const std::bad_alloc*>(&exception) != nullptr ||
         dynamic_cast<const std::length_error*>(&exception) != nullptr ||
         std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view words) { return reason.find(words) != std::string_view::npos; });
}

}  // namespace

bool is_unsupported(const std::exception& exception) {
  return dynamic_cast<const ov::NotImplemented*>(&exception) != nullptr ||
         plugin_support::advises_unsupported(exception.what(), kAdvice);
}

std::string reason_of(const std::exception& exception) {
  std::string reason;
  for (const auto& line : split(exception.what(), '\n')) {
    auto text = trim(line);
    if (text.starts_with("-- ")) text.remove_prefix(3);  // an item of a list
    if (text.empty() || is_noise(text)) continue;
    reason += reason.empty() ? "" : "; ";
    reason += text;
  }
  if (reason.empty()) reason = trim(exception.what());
  if (lacks_memory(exception, reason)) return "there is not enough memory";  // a worker calls that "oom"
  reason = reason.substr(0, reason.find(" Please check that model format"));
  return plugin_support::with_advice(std::move(reason), kAdvice);
}

}  // namespace paceline::openvino_plugin
