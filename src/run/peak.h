// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "result/case_result.h"
#include "run/observer.h"
#include "run/plugin_choice.h"

namespace paceline::run {

struct Peak {
  result::Number flops_per_s;
  std::string source;  // which product or convolution, how many threads, when
  bool quiet = false;  // no busy neighbours while it was measured: worth keeping
};

// This machine's measured ceiling: the better of a 2048^3 matrix product and a 3x3 convolution in the asked
// precision, median of 50 repetitions through the same worker and loop as any case (methodology: model FLOPs
// and peaks). Measured once per machine, precision, thread count and library version; kept in the user's
// cache folder.
class PeakTable {
 public:
  PeakTable(const EngineDirectory& engines, std::string cpu_model, std::filesystem::path log);
  Peak get(const std::string& precision, int threads, RunObserver& observer,
           const std::atomic<bool>& interrupt);
  // For a case that did more than get() said is possible: measures once more (once a run), the larger one
  // stays.
  void measure_again(const std::string& precision, int threads, RunObserver& observer,
                     const std::atomic<bool>& interrupt);

 private:
  Peak measure(const std::string& precision, int threads, RunObserver& observer,
               const std::atomic<bool>& interrupt) const;
  [[nodiscard]] std::string key(const std::string& precision, int threads) const;

  const EngineDirectory& engines_;
  std::string cpu_model_;
  std::filesystem::path log_;
  std::map<std::string, Peak> known_;
  std::set<std::string> measured_again_;
};

}  // namespace paceline::run
