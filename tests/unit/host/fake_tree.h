// SPDX-License-Identifier: MIT
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "host/system_files.h"

namespace paceline::host {

// A recorded /proc and /sys in a temporary folder.
class FakeTree {
 public:
  FakeTree() : root_(unique_folder()) { std::filesystem::create_directories(root_); }
  ~FakeTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;

  FakeTree& file(const std::string& path, std::string_view text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
    return *this;
  }
  FakeTree& folder(const std::string& path) {
    std::filesystem::create_directories(root_ / path);
    return *this;
  }
  FakeTree& link(const std::string& path, const std::string& target) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::filesystem::create_symlink(target, root_ / path);
    return *this;
  }
  [[nodiscard]] SystemFiles files() const { return SystemFiles(root_); }

 private:
  static std::filesystem::path unique_folder() {
    static std::atomic<int> next{0};
    return std::filesystem::path(::testing::TempDir()) /
           ("paceline_host_" + std::to_string(::getpid()) + "_" + std::to_string(next++));
  }
  std::filesystem::path root_;
};

}  // namespace paceline::host
