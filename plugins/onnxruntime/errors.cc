// SPDX-License-Identifier: MIT
#include "onnxruntime/errors.h"

#include <algorithm>

#include "base/text.h"

namespace paceline::ort_plugin {

// "…failed:/onnxruntime_src/onnxruntime/core/graph/model.cc:149 onnxruntime::Model::Model(…) Unsupported
// model IR version" : from the path to the end of the function's signature nothing is for users.
std::string reason_of(const Ort::Exception& exception) {
  std::string text = exception.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  for (auto at = text.find("/onnxruntime_src/"); at != std::string::npos;
       at = text.find("/onnxruntime_src/")) {
    const auto end = text.find(") ", at);
    text.erase(at, end == std::string::npos ? end : end + 2 - at);
  }
  return std::string(trim(text));
}

}  // namespace paceline::ort_plugin
