// SPDX-License-Identifier: MIT
#include "workload/training/training_pass.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/units.h"
#include "cluster/meeting.h"
#include "cluster/peer_failure.h"
#include "host/affinity.h"
#include "host/heap.h"
#include "host/memory.h"
#include "host/noise.h"
#include "host/process_clock.h"
#include "measure/timed_loop.h"
#include "plugin/registry.h"
#include "result/rank_steps.h"
#include "workload/pass_records.h"
#include "workload/training/agreed_decider.h"
#include "workload/training/checkpoint_writer.h"
#include "workload/training/checkpoints.h"
#include "workload/training/data/loader.h"
#include "workload/training/fault.h"
#include "workload/training/learning_rate.h"
#include "workload/training/step_clock.h"

namespace paceline::workload {
namespace {

using plugin::StepPhase;
using result::StepRow;

constexpr double kAgreeEveryNs = 0.5e9;  // how often ranks ask each other whether to end early

// Whether ranks stop before the work is done: an interrupt of one is an interrupt of all, at the same step.
class AgreedEnd {
 public:
  AgreedEnd(const std::atomic<bool>& interrupt, plugin::RankGroup* group)
      : interrupt_(interrupt), group_(group) {}

  // Between two steps; the same calls on every rank.
  void ask(std::int64_t step, std::int64_t last_step_ns) {
    if (!group_) {
      end_ = interrupt_.load();
      return;
    }
    if (step < next_) return;
    std::array<double, 2> words{interrupt_ ? 1.0 : 0.0,
                                static_cast<double>(std::max<std::int64_t>(1, last_step_ns))};
    group_->reduce_max(words);
    next_ = step + std::max<std::int64_t>(1, std::llround(kAgreeEveryNs / words[1]));
    if (words[0] > 0) end_ = true;
  }
  [[nodiscard]] const std::atomic<bool>& flag() const { return end_; }

 private:
  const std::atomic<bool>& interrupt_;
  plugin::RankGroup* group_;
  std::int64_t next_ = 0;
  std::atomic<bool> end_{false};
};

class RankPass {
 public:
  RankPass(const PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt)
      : spec_(spec),
        train_(spec.train),
        sink_(sink),
        interrupt_(interrupt),
        plugin_(spec.plugin_file),
        fault_(parse_fault(spec.train.inject), spec.rank),
        checkpoint_(spec.train.checkpoint) {
    if (!checkpoint_.dir.empty() && spec.repetition > 0)
      checkpoint_.dir += fmt::format("/repetition{}", spec.repetition + 1);
  }

  void run() {
    start();
    if (spec_.world_size == 1 && !train_.settings.ddp.enabled) return work();
    meet();
    cluster::work_as_member(met_.store, met_.self, [this] {
      group_ = plugin_.backend(train_.backend).join(met_.store, met_.group);
      work();
    });
  }

 private:
  void start();
  void meet();
  void work();
  void load();
  void tell_settings();
  void measure();
  void finish_epochs();
  [[nodiscard]] CheckpointOwner owner() const;
  void open_checkpoints();
  void resume();
  void refuse_another_run();
  void save_checkpoint();
  void close_checkpoints();
  [[nodiscard]] result::CheckpointFigures checkpoint_figures();
  void one_step();
  void between_steps();
  void make_fault();
  void keep_row();
  void compare_parameters();
  void report();
  [[nodiscard]] result::RankSteps steps_of_this_rank();
  [[nodiscard]] result::Training known_here() const;
  [[nodiscard]] std::vector<int> neighbours() const;

  const PassSpec& spec_;
  const TrainSpec& train_;
  TaggedSink& sink_;
  const std::atomic<bool>& interrupt_;
  plugin::LoadedPlugin plugin_;
  FaultMaker fault_;

  SteadyClock clock_;
  result::Repetition r_;
  measure::Calibration calibration_;
  double timed_ns_ = 0;  // the median step of this rank
  std::string heap_;
  cluster::Meeting met_;
  std::unique_ptr<plugin::RankGroup> group_;  // none: one rank, and no DDP
  std::unique_ptr<plugin::Trainer> trainer_;
  std::unique_ptr<Loader> loader_;
  std::optional<AgreedEnd> end_;

  StepClock step_clock_;
  std::int64_t step_ = 0;  // the next one
  result::StepPhase phase_ = result::StepPhase::kWarmup;
  bool pending_ = false;  // a step was made whose row is not kept yet
  StepRow row_;
  plugin::StepOutcome outcome_;
  std::vector<StepRow> rows_;
  CheckpointSpec checkpoint_;  // of this repetition
  std::optional<CheckpointWriter> checkpoints_;
  std::vector<CheckpointCost> written_;
  std::int64_t saved_step_ = -1;
  result::CheckpointFigures figures_;
  std::vector<host::NoiseSnapshot> snapshots_;
};

void RankPass::start() {
  r_.index = spec_.repetition;
  r_.process_start_ns = host::since_process_start_ns();
  r_.started_utc = format_utc(std::time(nullptr));
  heap_ = host::keep_freed_memory();
  if (!spec_.pin_cpus.empty()) host::pin_process(spec_.pin_cpus);
  sink_.phase("calibrate");
  calibration_ = measure::calibrate(clock_);
}

// "cuda:1", "cuda", "cpu"
Device device_of(const std::string& name) {
  if (!name.starts_with("cuda")) return {};
  const auto colon = name.find(':');
  const auto index = colon == std::string::npos ? 0 : parse_int(name.substr(colon + 1)).value_or(0);
  return {DeviceKind::kCuda, static_cast<int>(index)};
}

void RankPass::meet() {
  sink_.phase("rendezvous");
  cluster::Invitation invitation;
  invitation.rank = static_cast<int>(spec_.rank), invitation.world = static_cast<int>(spec_.world_size);
  invitation.where = train_.rendezvous;
  invitation.plan_hash = train_.plan_hash;
  invitation.device = device_of(train_.device);
  invitation.group_timeout_s = train_.group_timeout_s;
  met_ = cluster::meet(plugin_.backend(train_.backend), invitation);
}

void RankPass::work() {
  end_.emplace(interrupt_, group_.get());
  load();
  measure();
  finish_epochs();
  close_checkpoints();
  if (end_->flag()) return;
  compare_parameters();
  report();
}

void RankPass::load() {
  sink_.phase("load");
  trainer_ = plugin_.make_trainer(train_.device.substr(0, train_.device.find(':')));
  host::reset_rss_peak();
  r_.memory.rss_before_load_bytes = host::process_memory().rss_bytes;
  const auto begin = clock_.now_ns();
  trainer_->load(spec_.model, train_.settings, group_.get());
  r_.load_ns = static_cast<double>(clock_.now_ns() - begin);
  tell_settings();
  LoaderSetup setup;
  setup.data = train_.data;
  setup.specs = trainer_->batch_specs();
  setup.classes = setup.vocabulary = trainer_->info().classes;
  setup.micro_batches = train_.settings.accumulation_steps;
  setup.rank = static_cast<int>(spec_.rank), setup.world = static_cast<int>(spec_.world_size);
  loader_ = std::make_unique<Loader>(setup);
  if (!train_.checkpoint.dir.empty()) open_checkpoints();
}

void RankPass::tell_settings() {
  auto info = trainer_->info();
  info.settings.emplace_back("heap", heap_);
  sink_.emit(loaded_record(info.versions, info.settings));
}

// What must be the same for training to go on: not how long, how often saved, on how many ranks or threads.
CheckpointOwner RankPass::owner() const {
  const auto& s = train_.settings;
  const auto same = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", spec_.model.name, s.precision, s.optimizer.name,
                                s.accumulation_steps, s.seed, s.dropout, train_.data.source, train_.data.path,
                                train_.data.shuffle);
  return {spec_.model.name, sha256_hex(same).substr(0, 16), spec_.world_size};
}

void RankPass::open_checkpoints() {
  if (checkpoint_.resume)
    resume();
  else
    refuse_another_run();
  checkpoints_.emplace(checkpoint_, owner(), static_cast<int>(spec_.rank), train_.group_timeout_s);
  if (group_) group_->barrier();  // nobody writes before rank 0 has tidied up
}

// A restart goes on from the furthest checkpoint: it has to be of this run.
void RankPass::refuse_another_run() {
  if (spec_.rank != 0) return;
  if (const auto search = newest_good(checkpoint_.dir, owner(), true); search.found)
    throw Error(ErrorCode::kConfig,
                fmt::format("checkpoint.dir '{}' holds step {} of this training already; go on from it with "
                            "--checkpoint.resume, or name an empty folder",
                            checkpoint_.dir, search.found->state.step));
}

// Rank 0 looks for the newest good one, so that all take the same.
void RankPass::resume() {
  std::int64_t step = -1;
  if (spec_.rank == 0) {
    const auto search = newest_good(checkpoint_.dir, owner(), true);
    for (const auto& refused : search.refused) sink_.emit(notice_record("checkpoint refused: " + refused));
    if (!search.found && !search.refused.empty())
      throw Error(ErrorCode::kData,
                  fmt::format("no checkpoint in '{}' can be continued: {}; name another folder, or leave "
                              "checkpoint.resume out",
                              checkpoint_.dir, search.refused.front()));
    if (search.found)
      step = search.found->state.step;
    else
      sink_.emit(
          notice_record(fmt::format("no checkpoint in '{}': training begins at step 0", checkpoint_.dir)));
  }
  if (group_) group_->broadcast(std::as_writable_bytes(std::span(&step, 1)), 0);
  if (step < 0) return;
  const auto checkpoint = read_checkpoint(checkpoint_.dir, step);
  const auto cost = restore(*trainer_, checkpoint, static_cast<int>(spec_.rank));
  step_ = checkpoint.state.step;
  loader_->seek(checkpoint.state.data);  // exact, unless the samples of a step have changed
  figures_.read_ns = cost.read_ns;
  figures_.resumed_step = step_;
  if (spec_.rank != 0) return;
  sink_.emit(notice_record(fmt::format("training goes on after step {}, from a checkpoint of {} ranks", step_,
                                       checkpoint.owner.world)));
  if (checkpoint.state.schedule != train_.schedule)
    sink_.emit(notice_record("the learning rate follows another schedule than the checkpoint's"));
}

void RankPass::save_checkpoint() {
  if (!checkpoints_ || saved_step_ == step_) return;
  saved_step_ = step_;
  if (const auto cost = checkpoints_->save(*trainer_, {step_, loader_->position(), train_.schedule}))
    written_.push_back(*cost);
}

void RankPass::close_checkpoints() {
  if (!checkpoints_) return;
  save_checkpoint();
  if (const auto cost = checkpoints_->finish()) written_.push_back(*cost);
  if (end_->flag() && spec_.rank == 0)
    sink_.emit(notice_record(fmt::format(
        "checkpoint of step {} written to '{}'; go on with --checkpoint.resume", step_, checkpoint_.dir)));
}

// Times of this rank, bytes of all. Collective.
result::CheckpointFigures RankPass::checkpoint_figures() {
  auto figures = figures_;
  const auto median_of = [&](auto get) {
    std::vector<double> values;
    for (const auto& cost : written_) values.push_back(get(cost));
    return values.empty() ? result::Number::missing("no checkpoint was written")
                          : result::Number(stats::median(values));
  };
  figures.written = static_cast<std::int64_t>(written_.size());
  figures.write_ns = median_of([](const auto& c) { return c.write_ns; });
  figures.blocked_ns = median_of([](const auto& c) { return c.stalled_ns; });
  const auto mine = written_.empty() ? std::int64_t{0} : written_.back().bytes;
  const auto all = group_ ? group_->gather(fmt::format("{}", mine)) : std::vector{fmt::format("{}", mine)};
  std::int64_t bytes = 0;
  for (const auto& text : all) bytes += parse_int(text).value_or(0);
  if (bytes > 0) figures.bytes = bytes;
  return figures;
}

void RankPass::one_step() {
  row_.step = step_;
  row_.epoch = loader_->epoch();
  row_.phase = phase_;
  row_.learning_rate = fault_.poisons(step_) ? std::numeric_limits<double>::quiet_NaN()
                                             : learning_rate(train_.schedule, step_);
  step_clock_.begin();
  const auto batch = loader_->next();
  step_clock_.input_here();
  fault_.inside_step(step_);
  outcome_ = trainer_->step(batch, row_.learning_rate, step_clock_);
  pending_ = true;
  ++step_;
}

void RankPass::keep_row() {
  if (!pending_) return;
  pending_ = false;
  if (!std::isfinite(outcome_.loss))
    throw Error(
        ErrorCode::kInternal,
        fmt::format("the loss of step {} on rank {} is {}: {}", row_.step, spec_.rank,
                    std::isnan(outcome_.loss) ? "not a number" : "infinite",
                    rows_.empty()
                        ? "the data or the weights hold such numbers already"
                        : fmt::format("training has diverged; lower the learning rate ({:g}), or clip "
                                      "gradients",
                                      learning_rate(train_.schedule, row_.step))));
  const auto& c = step_clock_;
  row_.start_ns = c.start_ns(), row_.step_ns = c.step_ns(), row_.data_wait_ns = c.data_wait_ns();
  row_.input_ns = c.phase_ns(StepPhase::kInput), row_.forward_ns = c.phase_ns(StepPhase::kForward);
  row_.backward_ns = c.phase_ns(StepPhase::kBackward),
  row_.exposed_ns = c.phase_ns(StepPhase::kCommunication);
  row_.optimizer_ns = c.phase_ns(StepPhase::kOptimizer);
  row_.loss = outcome_.loss, row_.correct = outcome_.correct, row_.judged = outcome_.judged;
  row_.skipped = outcome_.skipped;
  row_.buckets.clear();
  for (const auto& b : c.buckets()) row_.buckets.push_back({b.bytes, b.launched_ns, b.finished_ns});
  rows_.push_back(row_);
}

// Who watches the ranks learns the moment: how long it takes to notice is a figure.
void RankPass::make_fault() {
  if (fault_.strikes(step_))
    sink_.emit(notice_record(fmt::format("rank {}: fault on purpose before step {}", spec_.rank, step_)));
  fault_.before_step(step_);
}

void RankPass::between_steps() {
  keep_row();
  end_->ask(step_, row_.step_ns);
  if (train_.drift_check_every > 0 && step_ > 0 && step_ % train_.drift_check_every == 0)
    compare_parameters();
  const auto every = checkpoint_.every_steps;
  if (checkpoints_ && every > 0 && step_ > 0 && step_ % every == 0) save_checkpoint();
  make_fault();
}

std::vector<int> RankPass::neighbours() const {
  std::vector<int> ids;
  for (const auto& one : met_.roster)
    if (one.host == met_.self.host) ids.push_back(one.process_id);
  return ids;
}

// The loop times the first call apart; here it is the first of the untimed steps that were asked for.
void count_first_step(stats::WarmupConfig& warmup) {
  if (warmup.mode != stats::WarmupMode::kFixed) return;
  warmup.fixed_iterations = std::max<std::int64_t>(0, warmup.fixed_iterations - 1);
  if (warmup.fixed_iterations == 0) warmup.mode = stats::WarmupMode::kNone;
}

void RankPass::measure() {
  sink_.phase("measure");
  auto config = spec_.loop;
  config.batch = 1;
  count_first_step(config.warmup);
  measure::AloneDecider alone(config.warmup, config.stop, config.iterations);
  std::optional<AgreedDecider> agreed;
  if (group_) agreed.emplace(alone, *group_);
  measure::StopDecider& decider = agreed ? static_cast<measure::StopDecider&>(*agreed) : alone;
  const auto snapshot = [&](result::StepPhase next) {
    keep_row();
    phase_ = next;
    snapshots_.push_back(host::take_snapshot_with(neighbours()));
  };
  const measure::LoopHooks hooks{
      [&](std::int64_t) { between_steps(); },
      [&](const measure::Progress& p) { sink_.emit(progress_record(to_progress(p))); },
      [&] { snapshot(result::StepPhase::kTimed); }, [&] { snapshot(result::StepPhase::kAfter); },
      &end_->flag()};
  make_fault();
  const auto loop = measure::run_timed_loop(
      clock_, [&] { one_step(); }, config, calibration_.timer, decider, hooks);
  if (end_->flag()) return;
  fill_loop(r_, spec_.loop, loop);
  ++r_.warmup_iterations;
  timed_ns_ = stats::median(loop.samples_ns());
}

void RankPass::finish_epochs() {
  const auto wanted = train_.epochs * loader_->steps_per_epoch();
  while (loader_->step() < wanted && !end_->flag()) {  // step_ counts the steps of another world too
    between_steps();
    one_step();
  }
  keep_row();
}

// Ranks that train the same model have the same parameters, to the bit.
void RankPass::compare_parameters() {
  if (!group_) return;
  const auto all = group_->gather(trainer_->fingerprint());
  std::int64_t other = -1;
  for (std::size_t rank = 1; rank < all.size() && other < 0; ++rank)
    if (all[rank] != all[0]) other = static_cast<std::int64_t>(rank);
  group_->broadcast(std::as_writable_bytes(std::span(&other, 1)), 0);
  if (other >= 0)
    throw Error(ErrorCode::kInternal,
                fmt::format("after step {} the parameters of rank {} are not those of rank 0: "
                            "gradients were not exchanged, or memory is faulty",
                            step_ - 1, other));
}

result::RankSteps RankPass::steps_of_this_rank() {
  result::RankSteps mine;
  mine.rank.rank = spec_.rank;
  mine.rank.host = cluster::host_name();
  mine.rank.process_id = ::getpid();
  mine.rank.cpus = host::format_cpu_list(host::current_affinity());
  mine.rank.threads = train_.settings.threads;
  mine.rank.rss_peak_bytes = host::process_memory().rss_peak_bytes;
  mine.loader_samples_per_s = {loader_->deliverable_samples_per_s(), "one batch, always the same"};
  mine.rows = std::move(rows_);
  return mine;
}

result::Training RankPass::known_here() const {
  const auto info = trainer_->info();
  result::Training t;
  t.ddp = group_ != nullptr && train_.settings.ddp.enabled;
  t.backend = t.ddp ? train_.backend : "";
  t.launcher = train_.launcher;
  t.parameters = info.parameters;
  t.parameter_tensors = info.parameter_tensors;
  t.bucket_bytes = info.bucket_bytes;
  t.fingerprint = trainer_->fingerprint();
  if (outcome_.loss_scale) t.loss_scale = *outcome_.loss_scale;
  return t;
}

void RankPass::report() {
  sink_.phase("report");
  finish_memory(r_.memory);
  if (const auto peak = trainer_->info().peak_tensor_bytes) r_.memory.tensor_peak_bytes = *peak;
  r_.overhead = overhead_of(calibration_, measure::calibrate(clock_), timed_ns_);
  const auto checkpoints = checkpoint_figures();
  const auto mine = result::rank_steps_text(steps_of_this_rank());
  const auto tables = group_ ? group_->gather(mine) : std::vector{mine};
  if (spec_.rank != 0) return;
  tell_settings();  // buckets are rebuilt after the first step
  r_.training = {known_here()};
  if (checkpoints_) r_.training.front().checkpoints = checkpoints;
  r_.noise = host::noise_over(snapshots_);
  r_.foreign_cpu_frac = r_.noise.foreign_cpu_frac;
  sink_.emit(rank_steps_record(tables));
  sink_.emit(repetition_record(r_));
}

}  // namespace

void run_training_pass(const PassSpec& spec, RecordSink& raw, const std::atomic<bool>& interrupt) {
  TaggedSink sink(raw, spec);
  RankPass(spec, sink, interrupt).run();
}

}  // namespace paceline::workload
