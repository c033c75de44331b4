// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attach/step_record.h"

namespace paceline::attach {

// Reads what disturbs this process, without PyTorch. What the kernel does not have is left out.
class ProcessCounters {
 public:
  struct Count {
    StepCounter counter;
    std::uint64_t value;
  };
  // `root`: where proc and sys are.
  explicit ProcessCounters(std::string root = "/") : root_(std::move(root)) {}

  // Whether it is time for a reading: ten times a second, after some seconds once. Readings take at most a
  // thousandth of the thread's time.
  [[nodiscard]] bool due(std::int64_t now_ns) const { return now_ns >= next_ns_; }
  // Never throws. Some 5 us per thread, and 10 us per CPU.
  std::vector<Count> read(std::int64_t now_ns);

 private:
  void read_threads(std::vector<Count>& counts);
  void read_usage(std::vector<Count>& counts) const;
  void read_cpus(std::vector<Count>& counts) const;
  void read_quota(std::vector<Count>& counts) const;

  std::string root_;
  std::vector<std::pair<int, std::uint64_t>> waits_;  // of each thread at the last reading, by its id
  std::int64_t first_ns_ = 0, next_ns_ = 0;
};

}  // namespace paceline::attach
