// SPDX-License-Identifier: MIT
#include "run/checks/nsight_program.h"

#include <cstdlib>

#include "process/tool_process.h"

namespace paceline::run {
namespace fs = std::filesystem;

fs::path find_nsight(const std::string& program) {
  if (auto found = process::find_program(program); !found.empty()) return found;
  const char* home = std::getenv("CUDA_HOME");
  for (const fs::path& folder : {fs::path(home ? home : "") / "bin", fs::path("/usr/local/cuda/bin")})
    if (folder.is_absolute())
      if (auto found = process::find_program((folder / program).string()); !found.empty()) return found;
  return {};
}

}  // namespace paceline::run
