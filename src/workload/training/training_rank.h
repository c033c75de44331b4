// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/meeting.h"
#include "measure/calibration.h"
#include "plugin/registry.h"
#include "plugin/trainer.h"
#include "result/case_result.h"
#include "result/rank_steps.h"
#include "workload/pass.h"
#include "workload/pass_records.h"
#include "workload/training/data/loader.h"
#include "workload/training/fault.h"
#include "workload/training/step_clock.h"

namespace paceline::workload {

// One rank that trains, whatever is made of it: it meets the others, loads model and data, and makes one step
// a call. Which steps count, and what is saved and told, is the pass's.
class TrainingRank {
 public:
  TrainingRank(const PassSpec& spec, TaggedSink& sink);

  // Calibrates the clock, meets the other ranks where there are any, and does `work` as one of them. Throws
  // what `work` throws, and what cluster::meet and work_as_member do.
  void run(const std::function<void()>& work);
  // The trainer and its data; says which versions and settings are in effect.
  void load();
  void tell_settings();
  void go_on_from(std::int64_t step) { step_ = step; }
  // From the next step on; until then a plain one runs.
  void time_with(std::unique_ptr<StepClock> clock) { step_clock_ = std::move(clock); }

  // A fault on purpose that comes before the next step.
  void make_fault();
  // Waits for the data and makes the next optimizer step. Nothing is judged or kept yet.
  void one_step(result::StepPhase phase);
  // Waits for a step that the device has not ended yet, so that take_row gives it.
  void settle();
  // The step that has ended since the last call: the one just made, or on a device that works on its own the
  // one before it. To be called after every step. Throws Error(kInternal) with step and rank when its loss is
  // not finite.
  std::optional<result::StepRow> take_row();

  [[nodiscard]] const PassSpec& spec() const { return spec_; }
  [[nodiscard]] TaggedSink& sink() { return sink_; }
  [[nodiscard]] bool leads() const { return spec_.rank == 0; }
  [[nodiscard]] std::int64_t next_step() const { return step_; }
  [[nodiscard]] plugin::Trainer& trainer() { return *trainer_; }
  [[nodiscard]] Loader& loader() { return *loader_; }
  [[nodiscard]] const FaultMaker& fault() const { return fault_; }
  [[nodiscard]] plugin::RankGroup* group() { return group_.get(); }  // null: one rank, and no DDP
  [[nodiscard]] plugin::Store* store() { return met_.store.get(); }  // null likewise
  [[nodiscard]] const measure::Calibration& calibration() const { return calibration_; }
  [[nodiscard]] const plugin::StepOutcome& last_outcome() const { return outcome_; }
  // Of the last step that was made; none before the first.
  [[nodiscard]] std::optional<std::int64_t> last_epoch() const { return last_epoch_; }
  [[nodiscard]] std::vector<int> processes_of_host() const;  // of ranks, this one included
  // What start and load leave in it; the pass fills in the rest.
  [[nodiscard]] result::Repetition& repetition() { return repetition_; }

 private:
  void start();
  void meet();
  void load_data();
  void check_loss(const result::StepRow& row);

  const PassSpec& spec_;
  const TrainSpec& train_;
  TaggedSink& sink_;
  plugin::LoadedPlugin plugin_;
  FaultMaker fault_;
  result::Repetition repetition_;
  measure::Calibration calibration_;
  std::string heap_;
  cluster::Meeting met_;
  std::unique_ptr<plugin::RankGroup> group_;
  std::unique_ptr<plugin::Trainer> trainer_;
  std::unique_ptr<Loader> loader_;

  std::unique_ptr<StepClock> step_clock_ = std::make_unique<StepClock>();
  std::int64_t step_ = 0;  // the next one
  bool any_taken_ = false;
  std::optional<std::int64_t> last_epoch_;
  std::deque<result::StepRow> under_way_;     // rows of steps without an outcome, the oldest first
  std::optional<plugin::StepOutcome> ended_;  // of the oldest
  plugin::StepOutcome outcome_;
};

}  // namespace paceline::workload
