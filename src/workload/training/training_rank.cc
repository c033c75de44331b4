// SPDX-License-Identifier: MIT
#include "workload/training/training_rank.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cluster/peer_failure.h"
#include "host/affinity.h"
#include "host/heap.h"
#include "host/memory.h"
#include "host/process_clock.h"
#include "workload/training/learning_rate.h"

namespace paceline::workload {
namespace {

using plugin::StepPhase;
using result::StepRow;

// "cuda:1", "cuda", "cpu"
Device device_of(const std::string& name) {
  if (!name.starts_with("cuda")) return {};
  const auto colon = name.find(':');
  const auto index = colon == std::string::npos ? 0 : parse_int(name.substr(colon + 1)).value_or(0);
  return {DeviceKind::kCuda, static_cast<int>(index)};
}

void take_times(StepRow& row, const plugin::StepTimes& times) {
  const auto of = [&](StepPhase phase) { return times.phase_ns[static_cast<std::size_t>(phase)]; };
  row.step_ns = times.step_ns, row.data_wait_ns = times.data_wait_ns;
  row.input_ns = of(StepPhase::kInput), row.forward_ns = of(StepPhase::kForward);
  row.backward_ns = of(StepPhase::kBackward), row.exposed_ns = of(StepPhase::kCommunication);
  row.optimizer_ns = of(StepPhase::kOptimizer);
  for (const auto& b : times.buckets) {
    auto& bucket = row.buckets.emplace_back();
    bucket.bytes = b.bytes, bucket.launch_ns = b.launched_ns;
    if (b.finished_ns) bucket.finish_ns = *b.finished_ns;
  }
}

}  // namespace

TrainingRank::TrainingRank(const PassSpec& spec, TaggedSink& sink)
    : spec_(spec),
      train_(spec.train),
      sink_(sink),
      plugin_(spec.plugin_file),
      fault_(parse_fault(spec.train.inject), spec.rank) {}

void TrainingRank::run(const std::function<void()>& work) {
  start();
  if (spec_.world_size == 1 && !train_.settings.ddp.enabled) return work();
  meet();
  cluster::work_as_member(met_.store, met_.self, [&] {
    met_.group.deterministic = train_.settings.deterministic;
    group_ = plugin_.backend(train_.backend).join(met_.store, met_.group);
    work();
  });
}

void TrainingRank::start() {
  repetition_.index = spec_.repetition;
  repetition_.process_start_ns = host::since_process_start_ns();
  repetition_.started_utc = format_utc(std::time(nullptr));
  heap_ = host::keep_freed_memory();
  if (!spec_.pin_cpus.empty()) host::pin_process(spec_.pin_cpus);
  sink_.phase("calibrate");
  calibration_ = measure::calibrate(SteadyClock{});
}

void TrainingRank::meet() {
  sink_.phase("rendezvous");
  cluster::Invitation invitation;
  invitation.rank = static_cast<int>(spec_.rank), invitation.world = static_cast<int>(spec_.world_size);
  invitation.where = train_.rendezvous;
  invitation.plan_hash = train_.plan_hash;
  invitation.device = device_of(train_.device);
  invitation.group_timeout_s = train_.group_timeout_s;
  met_ = cluster::meet(plugin_.backend(train_.backend), invitation);
}

void TrainingRank::load() {
  sink_.phase("load");
  trainer_ = plugin_.make_trainer(train_.device.substr(0, train_.device.find(':')));
  host::reset_rss_peak();
  repetition_.memory.rss_before_load_bytes = host::process_memory().rss_bytes;
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  trainer_->load(spec_.model, train_.settings, group_.get());
  repetition_.load_ns = static_cast<double>(clock.now_ns() - begin);
  tell_settings();
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
  if (spec_.rank == 0 && !loader_->remark().empty()) sink_.emit(notice_record(loader_->remark()));
}

void TrainingRank::tell_settings() {
  auto info = trainer_->info();
  info.settings.emplace_back("heap", heap_);
  sink_.emit(loaded_record(info.versions, info.settings));
}

// Who watches the ranks learns the moment: how long it takes to notice is a figure.
void TrainingRank::make_fault() {
  if (fault_.strikes(step_))
    sink_.emit(fault_record(fmt::format("rank {}: fault on purpose before step {}", spec_.rank, step_)));
  fault_.before_step(step_);
}

void TrainingRank::one_step(result::StepPhase phase) {
  StepRow& row = under_way_.emplace_back();
  row.step = step_;
  row.epoch = loader_->epoch();
  last_epoch_ = row.epoch;
  row.phase = phase;
  row.learning_rate = fault_.poisons(step_) ? std::numeric_limits<double>::quiet_NaN()
                                            : learning_rate(train_.schedule, step_);
  step_clock_->begin();
  row.start_ns = step_clock_->start_ns();
  trainer_->open_step();
  const auto batch = loader_->next();
  step_clock_->input_here();
  fault_.inside_step(step_);
  ended_ = trainer_->step(batch, row.learning_rate, *step_clock_);
  ++step_;
}

void TrainingRank::settle() {
  if (!ended_ && !under_way_.empty()) ended_ = trainer_->finish();
}

// Of steps under way the first is the one that has ended.
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
        fmt::format("the loss of step {} on rank {} is {}: {}", row.step, spec_.rank,
                    std::isnan(outcome_.loss) ? "not a number" : "infinite",
                    any_taken_ ? fmt::format("training has diverged; lower the learning rate ({:g}), or clip "
                                             "gradients",
                                             learning_rate(train_.schedule, row.step))
                               : "the data or the weights hold such numbers already"));
  any_taken_ = true;
}

std::vector<int> TrainingRank::processes_of_host() const {
  std::vector<int> ids;
  for (const auto& one : met_.roster)
    if (one.host == met_.self.host) ids.push_back(one.process_id);
  return ids;
}

}  // namespace paceline::workload
