// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <openvino/core/except.hpp>
#include <string>
#include <string_view>

#include "base/error.h"

namespace paceline::openvino_plugin {

// Turns OpenVINO's exceptions into ours: the message in one line, without the places in OpenVINO's own
// sources, with advice where we have any.
std::string reason_of(const std::exception& exception);
// Whether OpenVINO lacks an operator that the model needs, or its version.
bool is_unsupported(const std::exception& exception);

// Runs `work`; an exception of OpenVINO becomes Error("<what>: <reason>"): kUnsupported for operators that it
// does not have, else `otherwise`.
template <typename Work>
auto translate_errors(std::string_view what, Work&& work, ErrorCode otherwise = ErrorCode::kData) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    const auto code = is_unsupported(e) ? ErrorCode::kUnsupported : otherwise;
    throw Error(code, fmt::format("{}: {}", what, reason_of(e)));
  }
}

}  // namespace paceline::openvino_plugin
