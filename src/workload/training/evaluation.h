// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "plugin/rank_group.h"
#include "plugin/trainer.h"
#include "result/stored/rank_steps.h"
#include "workload/pass_records.h"

namespace paceline::workload {

// Evaluates on held-out data after epochs, outside everything that is timed: each rank at its share, in as
// many whole batches as all ranks can take. The same calls on every rank.
class Evaluation {
 public:
  // `group` is null for a single rank. All outlive this. Data that cannot be used are reported, and nothing
  // is evaluated then. A collective.
  Evaluation(const pass::PassSpec& spec, plugin::Trainer& trainer, plugin::RankGroup* group,
             TaggedSink& sink);
  [[nodiscard]] bool due_after(std::int64_t epoch) const;
  // To be called after the last step of an epoch. A collective; rank 0 gets the figures of all ranks.
  void run(std::int64_t epoch);
  [[nodiscard]] const std::vector<result::HeldOutFigures>& figures() const { return figures_; }

 private:
  [[nodiscard]] bool usable();
  void add(std::int64_t epoch, double seconds, const std::vector<std::string>& sums);

  const pass::PassSpec& spec_;
  plugin::Trainer& trainer_;
  plugin::RankGroup* group_;
  TaggedSink& sink_;
  std::int64_t every_epochs_;  // 0: never
  std::int64_t last_ = -1;     // the last epoch
  std::vector<result::HeldOutFigures> figures_;
};

}  // namespace paceline::workload
