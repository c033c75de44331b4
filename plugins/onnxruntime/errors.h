// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>
#include <onnxruntime_cxx_api.h>

#include <string>

#include "base/error.h"

namespace paceline::ort_plugin {

// Turns ONNX Runtime's exceptions into ours: the message in one line, without the places in ONNX Runtime's
// own sources, with advice where we have any.
std::string reason_of(const Ort::Exception& exception);

inline ErrorCode code_of(const Ort::Exception& exception) {
  return exception.GetOrtErrorCode() == ORT_NOT_IMPLEMENTED ? ErrorCode::kUnsupported : ErrorCode::kData;
}

// Runs `work`; an exception of ONNX Runtime becomes Error("<what>: <reason>"): kUnsupported for operators and
// types without a kernel, else kData.
template <typename Work>
auto translate_errors(const std::string& what, Work&& work) {
  try {
    return work();
  } catch (const Ort::Exception& e) {
    throw Error(code_of(e), fmt::format("{}: {}", what, reason_of(e)));
  }
}

}  // namespace paceline::ort_plugin
