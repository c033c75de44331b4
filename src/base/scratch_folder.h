// SPDX-License-Identifier: MIT
// A temporary folder that its owner removes when it is destroyed.
#pragma once
#include <filesystem>
#include <string>

namespace paceline {

class ScratchFolder {
 public:
  // Creates the folder and removes what an earlier owner left in it. Throws Error(kIo).
  explicit ScratchFolder(std::filesystem::path path);
  // Creates a folder with a new name below the system's temporary folder. Throws Error(kIo).
  static ScratchFolder below_temp(const std::string& prefix);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace paceline
