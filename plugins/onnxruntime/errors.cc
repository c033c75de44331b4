// SPDX-License-Identifier: MIT
#include "onnxruntime/errors.h"

#include <algorithm>
#include <regex>

#include "base/text.h"
#include "support/engine_checks.h"

namespace paceline::ort_plugin {
namespace {

using plugin_support::kDamagedAdvice;
using plugin_support::kOperatorAdvice;
using plugin_support::kUnsupportedHere;

// Parts of messages that are removed: places in the library's sources, repetitions of the path, and how every
// message about an opset begins and ends.
const char* const kNoise =
    "Load model from .*? failed:|\\w+\\.cc:\\d+ \\w+ |ONNX Runtime only \\*guarantees\\*[^.]*\\. |The "
    "operator schemas[^.]*\\. ";

constexpr std::string_view kCpuAdvice =
    "the provider does not run all nodes; --onnxruntime.allow_cpu_fallback true runs the others on the CPU "
    "and lists them";

constexpr plugin_support::Advice kAdvice[] = {
    {"Protobuf parsing failed", kDamagedAdvice},
    {"No graph was found", kDamagedAdvice},
    {"Deserialize tensor", kDamagedAdvice},
    {"No Op registered", kOperatorAdvice, kUnsupportedHere},
    {"No opset import", kOperatorAdvice},
    {"is not a registered function/op", kOperatorAdvice, kUnsupportedHere},
    {"Current official support for domain", "export the model with an opset up to that one",
     kUnsupportedHere},
    {"Unsupported model IR version", "export the model with an older ONNX, or use a newer ONNX Runtime",
     kUnsupportedHere},
    {"fallback to CPU EP has been explicitly disabled", kCpuAdvice, kUnsupportedHere},
    {"External data path does not exist", plugin_support::kDataFileAdvice},
};

}  // namespace

bool is_unsupported(const Ort::Exception& exception) {
  return exception.GetOrtErrorCode() == ORT_NOT_IMPLEMENTED ||
         plugin_support::advises_unsupported(exception.what(), kAdvice);
}

// "…failed:/onnxruntime_src/onnxruntime/core/graph/model.cc:149 onnxruntime::Model::Model(…) Unsupported
// model IR version": from the path to the end of the function's signature nothing is for users.
std::string reason_of(const Ort::Exception& exception) {
  std::string text = exception.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (auto at = text.find("/onnxruntime_src/"); at != std::string::npos;
       at = text.find("/onnxruntime_src/")) {
    const auto end = text.find(") ", at);
    text.erase(at, end == std::string::npos ? end : end + 2 - at);
  }
  text = std::regex_replace(text, std::regex(kNoise), "");
  if (trim(text) == "std::bad_alloc") return "there is not enough memory";
  return plugin_support::with_advice(std::string(trim(text)), kAdvice);
}

}  // namespace paceline::ort_plugin
