// SPDX-License-Identifier: MIT
#include "base/scratch_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <system_error>

#include "base/error.h"
#include "base/file.h"

namespace paceline {
namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(fs::path path) : path_(std::move(path)) {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  make_directories(path_);
}

ScratchFolder ScratchFolder::below_temp(const std::string& prefix) {
  std::string name = (temp_dir() / (prefix + "-XXXXXX")).string();
  if (!::mkdtemp(name.data()))
    throw Error(ErrorCode::kIo, fmt::format("cannot make a folder below '{}'", temp_dir().string()));
  return ScratchFolder(name);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace paceline
