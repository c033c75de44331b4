// SPDX-License-Identifier: MIT
#include "run/training/training_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device.h"
#include "base/file.h"
#include "base/units.h"
#include "config/training/training_rules.h"
#include "process/kept_records.h"
#include "result/figures/aligned_steps.h"
#include "result/figures/summarize_training.h"
#include "result/figures/training_course.h"
#include "run/case/case_run.h"
#include "run/training/train_factory.h"
#include "run/training/train_here.h"
#include "run/training/training_profiles.h"
#include "run/training/training_time.h"
#include "stats/median.h"

namespace paceline::run {
namespace {

constexpr std::size_t kMostTextRows = 100'000;  // 50 MB of text

bool fits_text(const std::vector<result::RankSteps>& ranks) {
  std::size_t rows = 0;
  for (const auto& table : ranks) rows += table.rows.size();
  return rows <= kMostTextRows;
}

bool writes_text(const CaseRun& run) {
  return run.definition.settings.flag("benchmark.log_step_times");
}

// The step tables of the ranks become figures of the repetition, and its samples.
std::vector<result::Sample> take_steps(CaseRun& run, result::Repetition& repetition,
                                       pass::PassReport& report) {
  auto& training = repetition.payload.fill<result::Training>();
  auto& tables = report.fill<pass::TrainingReport>().rank_steps;
  result::require_ranks(tables, run.definition.settings.integer("ranks"));
  result::summarize_training(training, tables, samples_per_step(run.definition));
  auto samples = result::step_samples(tables, static_cast<std::int32_t>(repetition.index));
  if (!fits_text(tables))
    training.notes.push_back(fmt::format(
        "rank<k>.jsonl are written up to {} steps of all ranks: passes/timed-<repetition>.steps.bin has "
        "them all",
        kMostTextRows));
  else if (writes_text(run))
    run.reported[repetition.index] = pass::TrainingReport{.rank_steps = std::move(tables)};
  return samples;
}

// Writes the epochs of measured repetitions, then the finished ones of interrupted repetitions.
void write_epochs(const CaseRun& run) {
  std::string epochs, table = result::epochs_csv_header();
  const auto add = [&](const std::vector<result::EpochFigures>& more, std::int64_t repetition) {
    epochs += result::epochs_jsonl(more, repetition);
    table += result::epochs_csv(more, repetition);
  };
  for (const auto& r : run.result.repetitions)
    if (r.training()) add(r.training()->epochs, r.index);
  for (const auto& [repetition, report] : run.reported)
    if (!run.measured(repetition)) add(std::get<pass::TrainingReport>(report).epochs, repetition);
  replace_file(run.dir / "metrics_epoch.jsonl", epochs);
  if (!epochs.empty()) replace_file(run.dir / "metrics_epoch.csv", table);
}

void write_rank_files(const CaseRun& run) {
  std::map<std::int64_t, std::string> ranks;
  for (const auto& [repetition, report] : run.reported)
    for (const auto& table : std::get<pass::TrainingReport>(report).rank_steps)
      ranks[table.rank.rank] += result::rank_steps_jsonl(table, repetition, !run.measured(repetition));
  for (const auto& [rank, text] : ranks) replace_file(run.dir / fmt::format("rank{}.jsonl", rank), text);
  write_epochs(run);
}

void summarize_training_case(CaseRun& run) {
  run.result.payload.set(result::combined_training(run.result.repetitions));
  auto* training = run.result.training();
  if (!training) return;
  for (auto& note : training_notes(run.definition, run.base.ranks.device))
    training->notes.push_back(std::move(note));
  if (auto crowded = crowding_note(*training); !crowded.empty())
    training->notes.push_back(std::move(crowded));
}

// Renames the table, so that the repetition can be measured again. Returns its new name within the case's
// folder.
std::string keep_interrupted_table(const std::filesystem::path& records) {
  const auto kept = process::table_of(records.parent_path() / ("interrupted-" + records.filename().string()));
  std::error_code error;
  std::filesystem::rename(process::unfinished_table_of(records), kept, error);
  return "passes/" + kept.filename().string();
}

// Figures of an interrupted repetition; they have no interval.
std::string figures_of_steps(std::vector<double> timed_ns) {
  if (timed_ns.empty()) return {};
  std::ranges::sort(timed_ns);
  return fmt::format(" (median {}, from {} to {} on rank 0)", format_duration_ns(stats::median(timed_ns)),
                     format_duration_ns(timed_ns.front()), format_duration_ns(timed_ns.back()));
}

// Keeps steps that no statistic counts. Returns where; empty: nowhere.
std::string keep_interrupted_rows(CaseRun& run, std::int64_t repetition,
                                  const std::vector<result::RankSteps>& tables) {
  if (!writes_text(run)) return {};
  if (!fits_text(tables)) return keep_interrupted_table(run.record_file(pass::PassKind::kTrain, repetition));
  std::get<pass::TrainingReport>(run.reported[repetition]).rank_steps = tables;
  return "rank<k>.jsonl";
}

// Empty where the ranks' steps do not fit together.
std::vector<result::EpochFigures> epochs_of_interrupted(const CaseRun& run,
                                                        const std::vector<result::RankSteps>& tables) {
  try {
    return result::finished_epochs(tables, samples_per_step(run.definition));
  } catch (const Error&) {
    return {};
  }
}

std::string keep_interrupted_steps(CaseRun& run, std::int64_t repetition, const pass::PassReport& report) {
  const auto& training = report.get<pass::TrainingReport>();
  const auto& tables = training.rank_steps;
  if (!training.interrupted || tables.empty() || tables.front().rows.empty()) return {};
  auto epochs = epochs_of_interrupted(run, tables);
  const auto finished =
      epochs.empty() ? std::string()
                     : fmt::format("; {} in metrics_epoch.csv", plural(std::ssize(epochs), "finished epoch"));
  run.reported[repetition] = pass::TrainingReport{.epochs = std::move(epochs)};
  const auto where = keep_interrupted_rows(run, repetition, tables);
  write_rank_files(run);
  if (where.empty()) return "its steps are not kept (benchmark.log_step_times: false)" + finished;
  const auto& rows = tables.front().rows;
  std::vector<double> timed;
  for (const auto& row : rows)
    if (row.phase == result::StepPhase::kTimed) timed.push_back(static_cast<double>(row.step_ns));
  run.interrupted =
      fmt::format("its steps up to {}, of which {} are timed{}, are in {} and in no statistic{}",
                  rows.back().step, timed.size(), figures_of_steps(timed), where, finished);
  return run.interrupted;
}

// Why the ranks use another backend than the one asked for; empty: they use it.
std::string backend_words(const config::Case& c, const pass::RankSpec& ranks) {
  const auto& asked = c.settings.text("backend");
  if (asked == "auto" || asked == ranks.backend) return {};
  return fmt::format("backend '{}' connects CUDA devices, and training is on the CPU here: it uses {}", asked,
                     ranks.backend);
}

std::string no_profile_words(const config::Case& c) {
  const auto reason = asks_profile(c) ? no_profile_reason(c) : std::string();
  return reason.empty() ? reason : "nothing is profiled: " + reason;
}

class TrainingRules : public KindRules {
 public:
  // Ranks are on all devices of their host, so that theirs has no number. What auto stands for is not known
  // yet.
  [[nodiscard]] std::string device(const config::Case& c) const override {
    return is_cuda(c.settings.text("device")) ? "cuda" : "cpu";
  }
  [[nodiscard]] double items_per_iteration(const config::Case& c) const override {
    return static_cast<double>(samples_per_step(c));
  }
  [[nodiscard]] RankHome rank_home(const config::Case& c, const EngineDirectory& engines) const override {
    return training_home(c, engines);
  }
  [[nodiscard]] double seconds(const config::Case& c, const Pace& pace) const override {
    return training_seconds(c, pace);
  }
  [[nodiscard]] Outlook outlook(const config::Case& c, const EngineDirectory& engines,
                                int hosts) const override {
    const auto device = training_home(c, engines).ranks.device;
    return {.fails = training_memory(c, device, hosts).refusal, .memory = training_memory_words(c, device)};
  }
  [[nodiscard]] std::string warning(const config::Case& c, const EngineDirectory& engines,
                                    int hosts) const override {
    const auto ranks = training_home(c, engines).ranks;
    auto words = training_memory(c, ranks.device, hosts).warning;
    for (const auto& more : {backend_words(c, ranks), no_profile_words(c)})
      if (!more.empty()) words += (words.empty() ? "" : "; ") + more;
    return words;
  }
  [[nodiscard]] std::string auto_device(const EngineDirectory& engines) const override {
    return home_here(engines, plugin::Role::kTrainer, "cuda", "cuda").file.empty() ? "cpu" : "cuda";
  }
  [[nodiscard]] std::string not_in_process(const config::Case& c) const override {
    if (c.settings.integer("ranks") == 1 && !config::runs_ddp(c)) return {};
    return "ranks under DDP are separate processes; use --ranks 1 without ddp.enabled, or leave --in-process "
           "out";
  }
  [[nodiscard]] result::Flops flops(const config::Case& c) const override { return training_flops(c); }
  std::vector<result::Sample> take(CaseRun& run, result::Repetition& repetition,
                                   pass::PassReport& report) const override {
    return take_steps(run, repetition, report);
  }
  void summarize(CaseRun& run) const override { summarize_training_case(run); }
  void write_files(const CaseRun& run) const override { write_rank_files(run); }
  std::string keep_unfinished(CaseRun& run, std::int64_t repetition,
                              const pass::PassReport& report) const override {
    return keep_interrupted_steps(run, repetition, report);
  }
  [[nodiscard]] bool may_be_done(const CaseRun& run) const override {
    return run.definition.settings.flag("checkpoint.resume");
  }
};

}  // namespace

const KindRules& training_rules() {
  static const TrainingRules kRules;
  return kRules;
}

}  // namespace paceline::run
