// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>

#include "base/handle.h"
#include "config/settings.h"

namespace paceline::cli {

// Folder for the step files of one job: a new one below results/attach, or that of --output. Nothing about it
// keeps the job from running: beside another job it is NAME-2, NAME-3, ...; a launch and its restarts share
// it.
class StepsFolder {
 public:
  explicit StepsFolder(const config::Settings& options);
  StepsFolder(const StepsFolder&) = delete;
  StepsFolder& operator=(const StepsFolder&) = delete;
  ~StepsFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const std::string& run_id() const { return run_id_; }
  // Why it cannot be written; empty if it can.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  // Says which other folder it is than the named one, and why; empty if it is that.
  [[nodiscard]] const std::string& remark() const { return remark_; }

 private:
  void take_new();
  void take_named(const std::filesystem::path& wish);
  bool take(const std::filesystem::path& path);

  std::string run_id_, problem_, remark_;
  std::filesystem::path path_;
  FileDescriptor lock_;  // while the job runs
  bool made_ = false;
};

}  // namespace paceline::cli
