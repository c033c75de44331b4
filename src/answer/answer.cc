// SPDX-License-Identifier: MIT
#include "answer/answer.h"

namespace paceline::answer {

ExitCode exit_code_of(const std::vector<Check>& checks) {
  ExitCode code = ExitCode::kSkipped;
  for (const Check& check : checks) code = worse(code, check.exit);
  return code;
}

}  // namespace paceline::answer
