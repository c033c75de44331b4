// SPDX-License-Identifier: MIT
#include "workload/training/training_rank.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/device.h"
#include "base/error.h"
#include "host/machine/memory.h"
#include "workload/training/learning_rate.h"
#include "workload/window/memory_observer.h"

namespace paceline::workload {
namespace {

using result::StepRow;

void take_times(StepRow& row, const plugin::StepTimes& times) {
  row.step_ns = times.step_ns, row.ns[result::StepPart::kDataWait] = times.data_wait_ns;
  for (std::size_t i = 0; i < StepClock::kPhases; ++i)
    row.ns[part_of(static_cast<plugin::StepPhase>(i))] = times.phase_ns[i];
  for (const auto& b : times.buckets) {
    auto& bucket = row.buckets.emplace_back();
    bucket.bytes = b.bytes, bucket.launch_ns = b.launched_ns;
    if (b.finished_ns) bucket.finish_ns = *b.finished_ns;
  }
}

}  // namespace

TrainingRank::TrainingRank(const pass::PassSpec& spec, TaggedSink& sink)
    : spec_(spec),
      train_(std::get<pass::TrainSpec>(spec.task)),
      rank_(spec, sink),
      fault_(parse_fault(train_.inject), spec.rank) {}

void TrainingRank::run(const std::function<void()>& work) {
  rank_.run({train_.settings.ddp.enabled, train_.settings.deterministic}, work);
}

void TrainingRank::load() {
  sink().phase("load");
  const auto role = plugin::Role::kTrainer;
  trainer_ = rank_.plugin(role).make<plugin::Role::kTrainer>(spec_.plugin(role).name);
  host::reset_rss_peak();
  result::Memory memory;
  memory.rss_before_load_bytes = host::process_memory().rss_bytes;
  timed().window.add<MemoryObserver>(memory, MemoryObserver::Until::kReport);
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  auto settings = train_.settings;
  if (const auto fault = parse_fault(train_.inject); fault.kind == Fault::Kind::kSlowLink)
    settings.options["link_delay_s"] = fmt::format("{}", fault.seconds);
  trainer_->load(spec_.model, settings, group());
  repetition().load_ns = static_cast<double>(clock.now_ns() - begin);
  report_settings();
  load_data();
}

void TrainingRank::load_data() {
  LoaderSetup setup;
  setup.data = train_.data;
  setup.specs = trainer_->batch_specs();
  setup.classes = setup.vocabulary = trainer_->info().classes;
  setup.micro_batches = train_.settings.accumulation_steps;
  setup.rank = static_cast<int>(spec_.rank), setup.world = static_cast<int>(spec_.world_size);
  loader_ = std::make_unique<Loader>(setup);
  schedule_ = in_steps(train_.schedule, loader_->steps_per_epoch());
  if (spec_.rank == 0 && !loader_->remark().empty()) sink().emit(pass::notice_record(loader_->remark()));
}

// Epochs of another number of ranks had another number of steps; a schedule in epochs follows the data.
void TrainingRank::go_on_from(std::int64_t step) {
  step_ = step;
  before_schedule_ = schedule_.epochs > 0 ? step - loader_->step() : 0;
}

double TrainingRank::rate_of(std::int64_t step) const {
  return learning_rate(schedule_, step - before_schedule_);
}

void TrainingRank::report_settings() {
  auto info = trainer_->info();
  info.settings.emplace_back("heap", rank_.heap());
  sink().emit(pass::loaded_record(info.versions, info.settings));
}

// Reports the moment to whoever watches the ranks: how long they take to notice is a figure.
void TrainingRank::make_fault() {
  if (fault_.strikes(step_))
    sink().emit(
        pass::fault_record(fmt::format("rank {}: fault on purpose before step {}", spec_.rank, step_)));
  fault_.before_step(step_);
}

void TrainingRank::one_step(result::StepPhase phase) {
  StepRow& row = under_way_.emplace_back();
  row.step = step_;
  row.epoch = loader_->epoch();
  last_epoch_ = row.epoch;
  row.phase = phase;
  row.learning_rate = fault_.poisons(step_) ? std::numeric_limits<double>::quiet_NaN() : rate_of(step_);
  step_clock_->begin();
  row.start_ns = step_clock_->start_ns();
  trainer_->open_step();
  fault_.while_loading(step_);
  const auto batch = loader_->next();
  step_clock_->input_here();
  fault_.inside_step(step_);
  ended_ = trainer_->step(batch, row.learning_rate, *step_clock_);
  ++step_;
}

void TrainingRank::settle() {
  if (!ended_ && !under_way_.empty()) ended_ = trainer_->finish();
}

// The first of the steps under way is the one that has ended.
std::optional<StepRow> TrainingRank::take_row() {
  if (!ended_) return std::nullopt;
  outcome_ = *std::exchange(ended_, std::nullopt);
  auto row = std::move(under_way_.front());
  under_way_.pop_front();
  check_loss(row);
  take_times(row, outcome_.device_times ? *outcome_.device_times : step_clock_->times());
  row.loss = outcome_.loss, row.correct = outcome_.correct, row.judged = outcome_.judged;
  row.skipped = outcome_.skipped;
  return row;
}

void TrainingRank::check_loss(const StepRow& row) {
  if (!std::isfinite(outcome_.loss))
    throw Error(
        ErrorCode::kInternal,
        fmt::format(
            "the loss of step {} on rank {} is {}: {}", row.step, spec_.rank,
            std::isnan(outcome_.loss) ? "not a number" : "infinite",
            any_taken_
                ? fmt::format("training has diverged; lower the learning rate ({:g}), or clip gradients",
                              rate_of(row.step))
                : "the data or the weights hold such numbers already"));
  any_taken_ = true;
}

}  // namespace paceline::workload
