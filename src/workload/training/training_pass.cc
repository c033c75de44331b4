// SPDX-License-Identifier: MIT
// The pass of one rank that trains.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "measure/timed_loop.h"
#include "workload/pass_records.h"
#include "workload/training/agreed_decider.h"
#include "workload/training/checkpoint_keeper.h"
#include "workload/training/evaluation.h"
#include "workload/training/live_watch.h"
#include "workload/training/live_words.h"
#include "workload/training/passes.h"
#include "workload/training/rank_observer.h"
#include "workload/training/rank_report.h"
#include "workload/training/training_rank.h"

namespace paceline::workload {
namespace {

class TrainingPass {
 public:
  TrainingPass(const pass::PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt)
      : spec_(spec), sink_(sink), interrupt_(interrupt), rank_(spec, sink) {}

  void run() {
    rank_.run([this] { work(); });
  }

 private:
  void work();
  void open();
  void observe();
  void report_progress(const measure::Progress& p);
  // After a resume fewer steps may be left than can be timed. Returns true when the training is over.
  bool ends_without_measuring();
  void measure();
  void enter_phase(result::StepPhase next);
  void timing_begins();
  void timing_ends();
  void report_epoch(std::int64_t elapsed_ns);
  void finish_epochs();
  void close_checkpoints();
  void between_steps();
  void keep_row();
  void keep_rows();  // also the row of a step that is under way
  void evaluate_when_due();
  void compare_parameters();
  void report_interrupted();
  void report();

  const pass::PassSpec& spec_;
  TaggedSink& sink_;
  const std::atomic<bool>& interrupt_;
  TrainingRank rank_;
  std::optional<AgreedEnd> end_;
  std::optional<CheckpointKeeper> checkpoints_;
  std::optional<Evaluation> evaluation_;
  std::optional<ClockSampler> clocks_;
  std::optional<LiveWatch> watch_;
  const EvidenceObserver* timed_evidence_ = nullptr;  // of the window
  result::StepPhase phase_ = result::StepPhase::kWarmup;
  std::vector<result::StepRow> rows_;
  double timed_ns_ = 0;  // median step time of this rank
};

void TrainingPass::work() {
  end_.emplace(interrupt_, rank_.group());
  open();
  if (ends_without_measuring()) return;
  measure();
  finish_epochs();
  evaluate_when_due();
  close_checkpoints();
  if (end_->flag()) return report_interrupted();
  compare_parameters();
  report();
}

void TrainingPass::open() {
  rank_.load();
  checkpoints_.emplace(spec_,
                       KeeperParts{rank_.trainer(), rank_.loader(), rank_.group(), rank_.store(), sink_,
                                   [this](std::int64_t step) { rank_.fault().while_saving(step); }});
  rank_.go_on_from(checkpoints_->open());
  evaluation_.emplace(spec_, rank_.trainer(), rank_.group(), sink_);
  clocks_.emplace(spec_.ranks.device);
  observe();
  watch_.emplace(
      WatchParts{rank_.train().settings.ddp.enabled ? rank_.group() : nullptr,
                 [this](std::vector<result::StepRow> rows) { return steps_of(rank_, std::move(rows)); },
                 [this](const std::string& words) { sink_.emit(pass::notice_record(words)); },
                 {rank_.processes_of_host(), *clocks_}});
}

void TrainingPass::observe() {
  timed_evidence_ = &rank_.timed().window.add<EvidenceObserver>(
      RankObserver(rank_.processes_of_host(), *clocks_), [this] { return rank_.next_step(); });
  rank_.observe();
}

void TrainingPass::keep_row() {
  if (auto row = rank_.take_row()) rows_.push_back(std::move(*row));
}

void TrainingPass::keep_rows() {
  keep_row();
  rank_.settle();
  keep_row();
}

// When the loader is in another epoch than at the last step, that step was the last of its epoch.
void TrainingPass::evaluate_when_due() {
  const auto epoch = rank_.last_epoch();
  if (end_->flag() || !epoch || rank_.loader().epoch() == *epoch) return;
  if (!evaluation_->due_after(*epoch)) return;
  evaluation_->run(*epoch);
  const auto& seen = evaluation_->figures();
  checkpoints_->keep_best(seen.empty() ? nullptr : &seen.back(), rank_.next_step());
}

void TrainingPass::between_steps() {
  keep_row();
  const auto step = rank_.next_step();
  end_->ask(step, rows_.empty() ? 0 : rows_.back().step_ns);
  if (rank_.train().drift_check_every > 0 && step > 0 && step % rank_.train().drift_check_every == 0)
    compare_parameters();
  evaluate_when_due();
  checkpoints_->save_when_due(step);
  clocks_->between_steps();
  watch_->between_steps(rows_);
  rank_.make_fault();
}

// The loop times the first call separately; here it counts as the first of the untimed steps asked for.
void count_first_step(stats::WarmupConfig& warmup) {
  if (warmup.mode != stats::WarmupMode::kFixed) return;
  warmup.fixed_iterations = std::max<std::int64_t>(0, warmup.fixed_iterations - 1);
  if (warmup.fixed_iterations == 0) warmup.mode = stats::WarmupMode::kNone;
}

constexpr std::size_t kShownSteps = 20;

void TrainingPass::report_progress(const measure::Progress& p) {
  auto record = to_progress(p);
  record.step = rank_.next_step() - 1;
  if (rank_.leads())
    record.steps = live_steps(std::span(rows_).last(std::min(rows_.size(), kShownSteps)),
                              rank_.loader().samples_per_step() * spec_.world_size, watch_->slowest());
  sink_.emit(pass::progress_record(record));
}

constexpr const char* kStopEpochs = "epochs_done";  // the steps of the epochs are done

constexpr std::int64_t kFewestLeft = 2;  // the loop times at least one step, and never the first

// The steps left of the epochs that were asked for; none when there is no limit.
std::optional<std::int64_t> steps_left(const pass::TrainSpec& train, const Loader& loader) {
  if (train.epochs <= 0) return std::nullopt;
  return train.epochs * loader.steps_per_epoch() - loader.step();
}

// Ends warm-up and measurement with the last epoch; the first step belongs to neither. Returns true when
// fewer steps fit than were asked for by number.
bool end_with_epochs(measure::LoopConfig& config, std::int64_t left) {
  config.warmup.fixed_iterations = std::min(config.warmup.fixed_iterations, left - 2);
  if (config.warmup.fixed_iterations == 0) config.warmup.mode = stats::WarmupMode::kNone;
  const std::int64_t most = left - 1 - config.warmup.fixed_iterations;
  const bool fewer = config.iterations && *config.iterations > most;
  if (fewer) config.iterations = most;
  config.stop.n_max = std::min(config.stop.n_max, most);
  config.stop.n_min = std::min(config.stop.n_min, most);
  return fewer;
}

bool TrainingPass::ends_without_measuring() {
  const auto left = steps_left(rank_.train(), rank_.loader());
  const auto done = rank_.next_step();
  if (!left || *left >= kFewestLeft || done == 0) return false;
  const char* rest =
      *left <= 0 ? "and nothing is left to do"
                 : "and the one that was left is made; nothing was timed, because the first step never is";
  if (*left > 0) {
    phase_ = result::StepPhase::kAfter;
    finish_epochs();
    evaluate_when_due();
    close_checkpoints();
    compare_parameters();
  }
  if (rank_.leads())
    sink_.emit(pass::trained_record(
        fmt::format("training.epochs: {}: the training in '{}' has done {}, {}; raise --epochs to train on",
                    rank_.train().epochs, checkpoints_->folder(), plural(done, "step"), rest)));
  return true;
}

void TrainingPass::enter_phase(result::StepPhase next) {
  keep_row();
  phase_ = next;
}

// Counters take unlike times on the ranks, which none of them must wait for in the first timed step.
void TrainingPass::timing_begins() {
  enter_phase(result::StepPhase::kTimed);
  rank_.timed().window.open();
  if (rank_.group()) rank_.group()->barrier();
}

void TrainingPass::timing_ends() {
  enter_phase(result::StepPhase::kAfter);
  rank_.timed().window.close();
}

void TrainingPass::measure() {
  sink_.phase("measure");
  auto config = spec_.loop;
  config.batch = 1;
  count_first_step(config.warmup);
  auto left = steps_left(rank_.train(), rank_.loader());
  if (left) left = std::max(kFewestLeft, *left);
  if (left && end_with_epochs(config, *left) && rank_.leads())
    sink_.emit(pass::notice_record(
        fmt::format("training.epochs: {} leaves {} steps to measure, fewer than benchmark.measure_steps",
                    rank_.train().epochs, *config.iterations)));
  measure::AloneDecider alone(config.warmup, config.stop, config.iterations);
  std::optional<AgreedDecider> agreed;
  if (rank_.group()) agreed.emplace(alone, *rank_.group());
  measure::StopDecider& decider = agreed ? static_cast<measure::StopDecider&>(*agreed) : alone;
  const measure::LoopHooks hooks{[&](std::int64_t) { between_steps(); },
                                 [&](const measure::Progress& p) { report_progress(p); },
                                 [&] { timing_begins(); }, [&] { timing_ends(); }, &end_->flag()};
  rank_.make_fault();
  auto loop = measure::run_timed_loop(
      SteadyClock{}, [&] { rank_.one_step(phase_); }, config, rank_.timed().timer(), decider, hooks);
  if (end_->flag()) return;
  const bool epochs_over =
      left && loop.stop.reason == stats::kStopMaxSamples && config.stop.n_max < spec_.loop.stop.n_max;
  if (epochs_over) loop.stop.reason = kStopEpochs, loop.stop.converged.reset();
  fill_loop(rank_.repetition(), spec_.loop, loop);
  if (epochs_over) rank_.repetition().converged = Maybe<bool>::missing(kStopEpochs);
  ++rank_.repetition().warmup_iterations;
  timed_ns_ = stats::median(loop.samples_ns());
}

void TrainingPass::report_epoch(std::int64_t elapsed_ns) {
  pass::ProgressRecord record;
  record.phase = fmt::format("epoch {}", rank_.loader().epoch());
  record.n = rank_.next_step();
  record.elapsed_s = static_cast<double>(elapsed_ns) * 1e-9;
  record.step = rank_.next_step() - 1;
  sink_.emit(pass::progress_record(record));
}

void TrainingPass::finish_epochs() {
  const auto wanted = rank_.train().epochs * rank_.loader().steps_per_epoch();
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  auto told = begin;
  while (rank_.loader().step() < wanted && !end_->flag()) {  // the rank counts steps of another world too
    between_steps();
    rank_.one_step(phase_);
    const auto now = clock.now_ns();
    if (now - told >= spec_.loop.progress_interval_ns) report_epoch(now - begin), told = now;
  }
  keep_rows();
}

void TrainingPass::close_checkpoints() {
  checkpoints_->close(rank_.next_step());
  if (end_->flag() && checkpoints_->enabled() && rank_.leads())
    sink_.emit(pass::notice_record(
        fmt::format("checkpoint of step {} written to '{}'; go on with --checkpoint.resume",
                    rank_.next_step(), checkpoints_->folder())));
}

// Ranks that train the same model must have bit-identical parameters.
void TrainingPass::compare_parameters() {
  auto* group = rank_.group();
  if (!group || !rank_.train().settings.ddp.enabled) return;
  const auto all = group->gather(rank_.trainer().fingerprint());
  std::int64_t other = -1;
  for (std::size_t rank = 1; rank < all.size() && other < 0; ++rank)
    if (all[rank] != all[0]) other = static_cast<std::int64_t>(rank);
  group->broadcast(std::as_writable_bytes(std::span(&other, 1)), 0);
  if (other >= 0)
    throw Error(ErrorCode::kInternal, fmt::format("after step {} the parameters of rank {} are not those of "
                                                  "rank 0: gradients were not exchanged, or memory is faulty",
                                                  rank_.next_step() - 1, other));
}

// Keeps what was measured so far: ranks end at the same step.
void TrainingPass::report_interrupted() {
  sink_.phase("report");
  sink_.emit(pass::interrupted_record(interrupt_.load()));
  report_steps(rank_,
               {std::move(rows_), timed_evidence_->evidence(), evaluation_->figures(), /*interrupted=*/true});
}

// A trainer with a caching allocator has it among its settings.
Count reserved_peak(const plugin::TrainerInfo& info) {
  for (const auto& [name, value] : info.settings)
    if (name == "reserved_peak_bytes") return {parse_int(value), "the trainer's figure is no number"};
  return Count::missing("the trainer reports no memory that it reserves");
}

void TrainingPass::report() {
  sink_.phase("report");
  auto& r = rank_.repetition();
  rank_.report_window(timed_ns_);
  const auto info = rank_.trainer().info();
  r.memory.tensor_peak_bytes = {info.peak_tensor_bytes, "the trainer reports no memory of tensors"};
  r.memory.reserved_peak_bytes = reserved_peak(info);
  const auto checkpoints = checkpoints_->figures();
  report_steps(
      rank_, {std::move(rows_), timed_evidence_->evidence(), evaluation_->figures(), /*interrupted=*/false});
  if (!rank_.leads()) return;
  rank_.report_settings();  // buckets are rebuilt after the first step
  r.payload = known_here(rank_);
  if (rank_.group() && !rank_.train().settings.ddp.enabled)
    r.training()->notes.emplace_back(
        "ddp.enabled is false: every rank trained a separate model; gradients were not exchanged");
  if (checkpoints_->enabled()) r.training()->checkpoints = checkpoints;
  if (!rank_.loader().contents().empty())
    r.training()->notes.push_back(fmt::format("data: {}", rank_.loader().contents()));
  for (const auto& words : {checkpoints_->remark(), checkpoints_->weights_words()})
    if (!words.empty()) r.training()->notes.push_back(words);
  sink_.emit(pass::repetition_record(r));
}

}  // namespace

void run_training_pass(const pass::PassSpec& spec, pass::RecordSink& raw,
                       const std::atomic<bool>& interrupt) {
  TaggedSink sink(raw, spec);
  TrainingPass(spec, sink, interrupt).run();
}

}  // namespace paceline::workload
