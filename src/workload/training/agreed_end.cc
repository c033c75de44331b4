// SPDX-License-Identifier: MIT
#include "workload/training/agreed_end.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace paceline::workload {
namespace {

constexpr double kAskEveryNs = 0.5e9;

}  // namespace

void AgreedEnd::ask(std::int64_t step, std::int64_t last_step_ns) {
  if (!group_) {
    end_ = interrupt_.load();
    return;
  }
  if (step < next_) return;
  std::array<double, 2> words{interrupt_ ? 1.0 : 0.0,
                              static_cast<double>(std::max<std::int64_t>(1, last_step_ns))};
  group_->reduce_max(words);
  next_ = step + std::max<std::int64_t>(1, std::llround(kAskEveryNs / words[1]));
  if (words[0] > 0) end_ = true;
}

}  // namespace paceline::workload
