// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstdint>

#include "plugin/rank_group.h"

namespace paceline::workload {

// Lets ranks stop together before the work is done: an interrupt of one is an interrupt of all, at the same
// step.
class AgreedEnd {
 public:
  // `group` is null for a single rank. Both outlive this.
  AgreedEnd(const std::atomic<bool>& interrupt, plugin::RankGroup* group)
      : interrupt_(interrupt), group_(group) {}

  // To be called between two steps, in the same way on every rank; about twice a second it is a collective.
  void ask(std::int64_t step, std::int64_t last_step_ns);
  [[nodiscard]] const std::atomic<bool>& flag() const { return end_; }

 private:
  const std::atomic<bool>& interrupt_;
  plugin::RankGroup* group_;
  std::int64_t next_ = 0;
  std::atomic<bool> end_{false};
};

}  // namespace paceline::workload
