// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pass/pass.h"
#include "plugin/trainer.h"
#include "result/stored/case_result.h"
#include "result/stored/rank_steps.h"
#include "workload/rank.h"
#include "workload/training/data/loader.h"
#include "workload/training/fault.h"
#include "workload/training/step_clock.h"

namespace paceline::workload {

// One rank that trains: it meets the others, loads model and data, and makes one step per call. The pass
// decides which steps count, and what is saved and reported.
class TrainingRank {
 public:
  TrainingRank(const pass::PassSpec& spec, TaggedSink& sink);

  // Like Rank::run.
  void run(const std::function<void()>& work);
  // Loads the trainer and its data; reports effective versions and settings.
  void load();
  void report_settings();
  // To be called after the loader was moved to the same place.
  void go_on_from(std::int64_t step);
  // Times steps with `clock` from the next step on; a plain clock runs until then.
  void time_with(std::unique_ptr<StepClock> clock) { step_clock_ = std::move(clock); }

  // Injects the fault that comes before the next step.
  void make_fault();
  // Waits for the data and makes the next optimizer step. Nothing is judged or kept yet.
  void one_step(result::StepPhase phase);
  // Waits for a step that the device has not finished, so that take_row returns it.
  void settle();
  // The step that has ended since the last call: the one just made, or, on an asynchronous device, the one
  // before it. To be called after every step. Throws Error(kInternal) with step and rank when its loss is not
  // finite.
  std::optional<result::StepRow> take_row();

  [[nodiscard]] const pass::PassSpec& spec() const { return spec_; }
  [[nodiscard]] const pass::TrainSpec& train() const { return train_; }
  [[nodiscard]] TaggedSink& sink() { return rank_.sink(); }
  [[nodiscard]] bool leads() const { return spec_.rank == 0; }
  [[nodiscard]] std::int64_t next_step() const { return step_; }
  [[nodiscard]] plugin::Trainer& trainer() { return *trainer_; }
  [[nodiscard]] Loader& loader() { return *loader_; }
  [[nodiscard]] const FaultMaker& fault() const { return fault_; }
  [[nodiscard]] plugin::RankGroup* group() { return rank_.group(); }  // null: a single rank without DDP
  [[nodiscard]] plugin::Store* store() { return rank_.store(); }      // null likewise
  [[nodiscard]] TimedRepetition& timed() { return rank_.timed(); }
  void observe() { rank_.observe(); }
  void report_window(double typical_ns) { rank_.report_window(typical_ns); }
  [[nodiscard]] const plugin::StepOutcome& last_outcome() const { return outcome_; }
  // The epoch of the last step made; none before the first.
  [[nodiscard]] std::optional<std::int64_t> last_epoch() const { return last_epoch_; }
  [[nodiscard]] std::vector<int> processes_of_host() const { return rank_.processes_of_host(); }
  // Filled in by run and load; the pass fills in the rest.
  [[nodiscard]] result::Repetition& repetition() { return rank_.repetition(); }

 private:
  void load_data();
  [[nodiscard]] double rate_of(std::int64_t step) const;
  void check_loss(const result::StepRow& row);

  const pass::PassSpec& spec_;
  const pass::TrainSpec& train_;
  Rank rank_;
  FaultMaker fault_;
  std::unique_ptr<plugin::Trainer> trainer_;
  std::unique_ptr<Loader> loader_;

  std::unique_ptr<StepClock> step_clock_ = std::make_unique<StepClock>();
  pass::ScheduleSpec schedule_;       // in steps
  std::int64_t before_schedule_ = 0;  // steps of another number of ranks, beyond those of its epochs
  std::int64_t step_ = 0;             // the next one
  bool any_taken_ = false;
  std::optional<std::int64_t> last_epoch_;
  std::deque<result::StepRow> under_way_;     // rows of steps without an outcome, the oldest first
  std::optional<plugin::StepOutcome> ended_;  // of the oldest step
  plugin::StepOutcome outcome_;
};

}  // namespace paceline::workload
