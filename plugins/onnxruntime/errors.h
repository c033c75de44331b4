// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>
#include <onnxruntime_cxx_api.h>

#include <string>
#include <string_view>

#include "base/error.h"

namespace paceline::ort_plugin {

// Turns ONNX Runtime's exceptions into ours: the message in one line, without the places in ONNX Runtime's
// own sources, with advice where we have any.
std::string reason_of(const Ort::Exception& exception);
// Whether ONNX Runtime lacks what the model needs: an operator, a type, a version of the format.
bool is_unsupported(const Ort::Exception& exception);

// Runs `work`; an exception of ONNX Runtime becomes Error("<what>: <reason>"): kUnsupported for what ONNX
// Runtime does not have, else `otherwise`.
template <typename Work>
auto translate_errors(std::string_view what, Work&& work, ErrorCode otherwise = ErrorCode::kData) {
  try {
    return work();
  } catch (const Ort::Exception& e) {
    const auto code = is_unsupported(e) ? ErrorCode::kUnsupported : otherwise;
    throw Error(code, fmt::format("{}: {}", what, reason_of(e)));
  }
}

}  // namespace paceline::ort_plugin
