// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>

#include "base/error.h"
#include "support/engine_checks.h"
#include "torch/errors.h"
#include "torch/precision.h"

namespace paceline::torch_plugin {

// The error of an inference that LibTorch refused: kUnsupported where a lower precision lacks an operator
// here, else kUsage, because the inputs may be at fault.
inline Error refused_run(const std::exception& refusal, const Precision& precision) {
  constexpr std::array<std::string_view, 2> kLacking{"could not create a primitive", "not implemented for '"};
  const auto reason = reason_of(refusal);
  const bool lacks =
      std::ranges::any_of(kLacking, [&](auto part) { return reason.find(part) != std::string::npos; });
  if (lacks && precision.dtype != at::kFloat)
    return {ErrorCode::kUnsupported,
            fmt::format("LibTorch lacks an operator of this model in {} here ({}); use fp32", precision.name,
                        reason)};
  return {ErrorCode::kUsage, fmt::format("{}: {}", plugin_support::kCannotRun, reason)};
}

}  // namespace paceline::torch_plugin
