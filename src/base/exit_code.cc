// SPDX-License-Identifier: MIT
#include "base/exit_code.h"

#include <algorithm>
#include <array>

namespace paceline {

ExitCode worse(ExitCode a, ExitCode b) noexcept {
  static constexpr std::array kPrecedence{ExitCode::kInterrupted,
                                          ExitCode::kUsage,
                                          ExitCode::kWorkloadFailed,
                                          ExitCode::kEnvironmentInvalid,
                                          ExitCode::kGateFailed,
                                          ExitCode::kInconclusive,
                                          ExitCode::kOk,
                                          ExitCode::kSkipped};
  return *std::find_if(kPrecedence.begin(), kPrecedence.end(), [&](ExitCode c) { return c == a || c == b; });
}

}  // namespace paceline
