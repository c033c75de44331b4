// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <mutex>

#include "base/json.h"
#include "run/case/observer.h"

namespace paceline::cli {

// Keeps live.json in the run directory: the pass under way and its figures, for other programs. A run does
// not end because this file cannot be written.
class LiveFile : public run::RunObserver {
 public:
  static constexpr std::int64_t kEveryNs = 1'000'000'000;
  // Written at most once in `every_ns`.
  explicit LiveFile(const std::filesystem::path& run_dir, std::int64_t every_ns = kEveryNs);
  LiveFile(const LiveFile&) = delete;
  LiveFile& operator=(const LiveFile&) = delete;
  ~LiveFile() override;  // removes the file
  void run_begins(const run::RunOverview& overview) override;
  void pass_begins(const run::PassInfo& pass) override;
  void progress(const pass::ProgressRecord& record) override;

 private:
  void write_when_due();

  std::mutex mutex_;  // protects everything below
  std::filesystem::path file_;
  std::int64_t every_ns_;
  nlohmann::json live_;
  run::PassInfo pass_;
  std::int64_t pass_began_ns_ = 0;
  std::int64_t next_ns_ = 0;  // on SteadyClock
};

}  // namespace paceline::cli
