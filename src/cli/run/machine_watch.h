// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "cli/run/progress_view.h"

namespace paceline::cli {

// Watches this machine beside a run (--monitor): once per second a reading goes into the run directory and,
// on a terminal, below the line of the run. A recording that cannot go on is a warning and does not end the
// run.
class MachineWatch {
 public:
  // Throws Error(kIo) where no file can be made.
  MachineWatch(const std::filesystem::path& run_dir, const Console& console, ProgressView& view);
  MachineWatch(const MachineWatch&) = delete;
  MachineWatch& operator=(const MachineWatch&) = delete;
  ~MachineWatch();

 private:
  void watch(const std::stop_token& stop);

  std::filesystem::path file_;
  const Console& console_;
  ProgressView& view_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace paceline::cli
