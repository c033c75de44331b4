// SPDX-License-Identifier: MIT
// Words what a report says about training beside its step times: scaling over ranks, parts of a step, ranks,
// epochs, buckets.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/case_query.h"
#include "analysis/step_prediction.h"
#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/chart/plots.h"
#include "report/disturbances.h"
#include "report/subjects.h"
#include "result/judged/training_scaling.h"

namespace paceline::report {
namespace {

using result::StepPart;
using result::Training;

constexpr const char* kNoClaim = "no claim";
constexpr const char* kPartsReading =
    "Means over the timed steps of the typical rank; exposed communication is what the backward pass did not "
    "hide, waiting for slower ranks included. The other time of the mean step is the host's between the "
    "parts.";

// Why the scaling may not be claimed; empty where it may, and for a case without one of fewer ranks.
std::string doubt_of(const ReportCase& entry) {
  return entry.one->scaling ? result::scaling_doubt(*entry.one) : "";
}

std::string efficiency_text(const ReportCase& entry) {
  if (!entry.one->scaling) return kNone;
  return doubt_of(entry).empty() ? with_interval(result::efficiency_of(*entry.one)) : kNoClaim;
}

std::string speedup_text(const ReportCase& entry) {
  if (!entry.one->scaling) return kNone;
  return doubt_of(entry).empty() ? format_fixed(*entry.one->scaling->speedup, 2) : kNoClaim;
}

std::vector<StepPart> parts_in_tables() {
  std::vector<StepPart> parts(result::kStepParts.begin(), result::kStepParts.end());
  std::erase_if(parts, [](StepPart part) { return *traits_of(part).head == 0; });
  return parts;
}

// Adds the shares of the step time by part, in the order of the step, to the last row.
void add_parts(Table& table, const Training& t) {
  for (const auto part : parts_in_tables())
    table.rows.back().cells.emplace_back(percent_or_none(t.shares[part]));
}

// Both tables below, as narrow as a terminal is.
Table short_table(const std::vector<ReportCase>& cases) {
  Table table{.heads = {"training", "efficiency"}, .labels = 35};
  for (const auto part : parts_in_tables()) table.heads.emplace_back(traits_of(part).head);
  table.heads.emplace_back("loss");
  for (const ReportCase& entry : cases) {
    const Training& t = *entry.one->training();
    table.add(entry.one->label, efficiency_text(entry));
    add_parts(table, t);
    table.rows.back().cells.emplace_back(significant_or_none(t.last_loss));
  }
  share_labels(table);
  return table;
}

// Figures of the chart over ranks, and more.
Table scaling_table(const std::vector<ReportCase>& cases) {
  Table table{.heads = {"case", "ranks", "step p50 ms", throughput_head(cases), "speed-up", "efficiency",
                        "straggler index", "loss", "total"}};
  for (const ReportCase& entry : cases) {
    const CaseResult& one = *entry.one;
    const Training& t = *one.training();
    table.add(name_of(entry), std::to_string(one.benchmark.world_size),
              with_interval(one.headline.p50_ns, 1e-6), or_none(one.throughput.per_s.value, format_rate),
              speedup_text(entry), efficiency_text(entry), significant_or_none(t.straggler_index),
              significant_or_none(t.last_loss), or_none(t.total_ns, format_duration_ns));
  }
  share_labels(table);
  return table;
}

Table part_table(const std::vector<ReportCase>& cases) {
  Table table{.heads = {"share of a step"}};
  for (const auto part : parts_in_tables()) table.heads.push_back(spaced(traits_of(part).name));
  for (const ReportCase& entry : cases) {
    table.add(name_of(entry));
    add_parts(table, *entry.one->training());
  }
  share_labels(table);
  return table;
}

constexpr const char* kEfficiencyReading =
    "The ideal step, from that of the fewest ranks, over the measured one; 1 is ideal.";
constexpr const char* kTotalReading =
    "From the first step to the last, pauses and untimed steps included; compare only cases of as many "
    "steps.";
constexpr const char* kTimelineReading =
    "Ranks need no common clock: the bar of each begins where its exchange of gradients before has ended.";
constexpr const char* kRankTimeReading =
    "What a rank takes by itself: optimizer, pause, data, forward and backward. The rank with the longest "
    "time keeps the others waiting.";
constexpr const char* kLatenessReading =
    "How much later than the median rank a rank was ready; a cell that contains several steps or ranks has "
    "the largest. A dark row is a rank that is always late, a dark column a step that disturbed all.";
constexpr const char* kBudgetReading =
    "What a mean step takes beyond the mean step of the fewest ranks: communication from when the last rank "
    "was ready, waiting for that rank, waiting for data, and computing that takes longer beside other ranks.";

// A row per part of every gap to ideal scaling that may be claimed.
Table budget_table(const std::vector<ReportCase>& cases) {
  Table table{.heads = {"case", "time lost in", "ms per step", "of the loss"}, .numbers_from = 2};
  for (const ReportCase& entry : cases) {
    if (!entry.one->scaling || !doubt_of(entry).empty()) continue;
    for (const auto& part : entry.one->scaling->budget)
      table.add(name_of(entry), spaced(part.name), with_interval(part.cost_ns, 1e-6),
                percent_or_none(part.share));
  }
  share_labels(table);
  return table;
}

std::string budget_reading(const std::vector<ReportCase>& cases) {
  return budget_table(cases).rows.empty() ? "" : kBudgetReading;
}

// A sentence and rows for each case that others with more ranks are compared with.
Section prediction_section(const std::vector<ReportCase>& cases) {
  Section section;
  Table& table = section.table;
  table = {.heads = {"predicted from", "ranks", "step ms", "range", "efficiency", "late ranks ms",
                     "communication ms"}};
  for (const ReportCase& entry : cases) {
    const auto scales = [&](const ReportCase& other) {
      return other.run == entry.run && other.one->scaling &&
             other.one->scaling->base_case_id == entry.one->case_id;
    };
    const auto base = analysis::point_of(*entry.one);
    if (base.empty() || !std::ranges::any_of(cases, scales)) continue;
    const auto study = analysis::predict_beyond(entry.run->result, entry.one->case_id);
    if (!study.refused.empty()) {
      section.paragraphs.push_back(
          fmt::format("{}: more ranks are not predicted: {}.", name_of(entry), study.refused));
      continue;
    }
    section.paragraphs.push_back(
        fmt::format("{}: {} ranks, predicted from fewer, are {} off. The range adds that error to the "
                    "intervals of what was "
                    "measured. Computing is taken to stay as it is, and the link to be the same.{}",
                    name_of(entry), study.held_out_world, format_percent(std::abs(study.held_out_error)),
                    study.doubt.empty() ? "" : " Nothing of it is claimed: " + study.doubt + "."));
    for (const auto& p : study.predictions)
      table.add(name_of(entry), std::to_string(p.world) + (p.model_only ? " (model only)" : ""),
                format_ms(p.step_ns),
                p.model_only ? "no claim" : fmt::format("{}–{}", format_ms(p.low_ns), format_ms(p.high_ns)),
                format_fixed(base.front().step_ns() / p.step_ns, 2), format_ms(p.straggler_wait_ns),
                format_ms(p.communication_ns));
  }
  share_labels(table);
  if (!section.paragraphs.empty()) section.title = "Prediction";
  return section;
}

// The notes of the cases, and why scaling may not be claimed, each once.
std::vector<std::string> training_notes(const std::vector<ReportCase>& cases) {
  std::vector<std::string> notes;
  for (const ReportCase& entry : cases) {
    for (const auto& note : entry.one->training()->notes) place_of(note, notes);
    if (const auto doubt = doubt_of(entry); !doubt.empty())
      place_of("what more ranks gain is not claimed: " + doubt, notes);
  }
  return notes;
}

// The launcher, the communication backend, and the model.
std::string facts_text(const Training& t) {
  std::string text =
      fmt::format("{} started {}", plural(std::ssize(t.ranks), "rank"), launcher_words(t.launcher));
  if (!t.backend.empty()) text += " over " + t.backend;
  if (t.parameters) text += fmt::format("; {} parameters", *t.parameters);
  if (t.steps) text += fmt::format("; {} steps", *t.steps);
  if (t.skipped_steps && *t.skipped_steps > 0)
    text += fmt::format(", {} skipped by the scaler", *t.skipped_steps);
  if (t.straggler_rank) text += fmt::format("; rank {} is late with certainty", *t.straggler_rank);
  return text + ".";
}

// Speeds are medians over repetitions; figures without a median are those of one repetition.
std::string scope_text(const CaseResult& one) {
  return one.repetitions.size() > 1 ? "Ranks, epochs and buckets are those of the last repetition." : "";
}

std::string collectives_text(const Training& t) {
  if (!t.ddp || !t.collectives_per_step || !t.parameter_tensors) return {};
  const auto hidden = t.overlap_ratio ? fmt::format(" The backward pass hid {} of their time.",
                                                    format_percent(*t.overlap_ratio))
                                      : std::string();
  return fmt::format("{} of gradients per step, in buckets; without buckets there would be {}.{}",
                     plural(*t.collectives_per_step, "all-reduce"), *t.parameter_tensors, hidden);
}

std::string loader_text(const CaseResult& one) {
  const Training& t = *one.training();
  if (!t.loader_samples_per_s || !one.throughput.per_s.value) return {};
  return fmt::format("The loaders could deliver {} {}/s, and training took {}.",
                     format_rate(*t.loader_samples_per_s), one.throughput.item,
                     format_rate(*one.throughput.per_s.value));
}

std::string bytes_or_none(const Count& bytes) {
  return bytes ? format_bytes(static_cast<double>(*bytes)) : kNone;
}

Table rank_table(const Training& t) {
  const bool on_gpu = std::ranges::any_of(t.ranks, [](const auto& r) { return bool(r.device_peak_bytes); });
  Table table{.heads = {"rank", "host", "CPUs", "threads", "step ms", "compute ms"}, .numbers_from = 3};
  for (const auto part : parts_in_tables()) table.heads.push_back(spaced(traits_of(part).name) + " ms");
  table.heads.insert(table.heads.end(), {"slowest", on_gpu ? "host memory" : "peak memory"});
  if (on_gpu) table.heads.emplace_back("GPU memory");
  const auto ms = [](const Number& ns) { return or_none(ns, format_ms); };
  for (const auto& r : t.ranks) {
    table.add(std::to_string(r.rank), r.host, r.cpus, std::to_string(r.threads), ms(r.parts.step_ns),
              ms(r.compute_ns));
    auto& cells = table.rows.back().cells;
    for (const auto part : parts_in_tables())
      cells.emplace_back(part == StepPart::kExposed && !t.ddp ? kNone : ms(r.parts.ns[part]));
    cells.emplace_back(t.ranks.size() > 1 ? plural(r.slowest_steps, "step") : kNone);
    cells.emplace_back(bytes_or_none(r.rss_peak_bytes));
    if (on_gpu) cells.emplace_back(bytes_or_none(r.device_peak_bytes));
  }
  return table;
}

bool has_held_out(const result::EpochFigures& epoch) {
  return static_cast<bool>(epoch.eval_samples);
}

// Figures of held-out data only where there are any.
Table epoch_table(const Training& t) {
  Table table{
      .heads = {"epoch", "steps", "samples", "loss", "accuracy", "learning rate", "seconds", "samples/s"},
      .numbers_from = 0};
  const bool held_out = std::ranges::any_of(t.epochs, has_held_out);
  if (held_out) table.heads.insert(table.heads.end(), {"held-out loss", "held-out accuracy"});
  for (const auto& e : t.epochs) {
    table.add(std::to_string(e.epoch + 1), std::to_string(e.steps), std::to_string(e.samples),
              significant_or_none(e.loss), percent_or_none(e.accuracy), significant_or_none(e.learning_rate),
              significant_or_none(e.seconds), or_none(e.samples_per_s, format_rate));
    auto& cells = table.rows.back().cells;
    if (held_out)
      cells.insert(cells.end(), {significant_or_none(e.eval_loss), percent_or_none(e.eval_accuracy)});
  }
  return table;
}

Table bucket_table(const Training& t) {
  Table table{.heads = {"bucket", "size", "launched ms", "finished ms"}, .numbers_from = 0};
  for (const auto& bucket : t.buckets)
    table.add(std::to_string(table.rows.size() + 1), format_bytes(static_cast<double>(bucket.bytes)),
              or_none(bucket.launched_ns, format_ms), or_none(bucket.finished_ns, format_ms));
  return table;
}

Table restart_table(const Training& t) {
  Table table{.heads = {"fault", "noticed after", "first step after", "steps lost", "ranks"}};
  for (const auto& r : t.restarts)
    table.add(r.cause, or_none(r.detect_ns, format_duration_ns), or_none(r.first_step_ns, format_duration_ns),
              r.steps_lost ? std::to_string(*r.steps_lost) : kNone,
              fmt::format("{} → {}", r.world_before, r.world_after));
  return table;
}

std::string checkpoint_text(const Training& t) {
  const auto& c = t.checkpoints;
  if (!c.written) return {};
  std::string text = plural(*c.written, "checkpoint") + " written";
  if (c.bytes) text += fmt::format(", {} each", format_bytes(static_cast<double>(*c.bytes)));
  if (c.write_ns) text += fmt::format(", on the disk after {}", format_duration_ns(*c.write_ns));
  if (c.blocked_ns) text += fmt::format("; training waited {} for one", format_duration_ns(*c.blocked_ns));
  if (c.read_ns)
    text += fmt::format("; the one continued from was read in {}", format_duration_ns(*c.read_ns));
  return text + ".";
}

std::string scaling_reading(const std::vector<ReportCase>& cases) {
  const ReportCase* widest = nullptr;
  for (const ReportCase& entry : cases)
    if (entry.one->scaling && (widest == nullptr || entry.one->scaling->world > widest->one->scaling->world))
      widest = &entry;
  if (widest == nullptr) return {};
  const CaseResult& one = *widest->one;
  const std::string base = plural(one.scaling->base_world, "rank"), doubt = doubt_of(*widest);
  const std::string gain = doubt.empty()
                               ? fmt::format("{} times the throughput of {}, efficiency {}",
                                             speedup_text(*widest), base, efficiency_text(*widest))
                               : fmt::format("what it gains over {} is not claimed: {}", base, doubt);
  return fmt::format("{}: {}. The dotted line is ideal: as many times the throughput as ranks.", one.label,
                     gain);
}

// From the last epoch with an evaluation on held-out data.
std::string held_out_text(const Training& t) {
  const auto last = std::find_if(t.epochs.rbegin(), t.epochs.rend(), has_held_out);
  if (last == t.epochs.rend() || !last->eval_loss) return {};
  const auto right =
      last->eval_accuracy ? fmt::format(", {} right", format_percent(*last->eval_accuracy)) : std::string();
  return fmt::format(" (held-out data: loss {}{})", format_significant(*last->eval_loss), right);
}

// From the last repetition; empty where no case trained for two epochs.
std::string loss_reading(const std::vector<ReportCase>& cases) {
  std::string ends;
  for (const ReportCase& entry : cases) {
    const auto& epochs = entry.one->training()->epochs;
    if (epochs.size() < 2 || !epochs.front().loss || !epochs.back().loss) continue;
    ends += fmt::format("{}{}: {} to {} in {}{}", ends.empty() ? "" : "; ", name_of(entry),
                        format_significant(*epochs.front().loss), format_significant(*epochs.back().loss),
                        plural(std::ssize(epochs), "epoch"), held_out_text(*entry.one->training()));
  }
  return ends.empty() ? "" : "Mean over the steps of an epoch, while the weights change. " + ends + ".";
}

Sections training_sections(std::span<const ReportRun> runs, Form form) {
  const auto cases = cases_with(runs, is_training);
  if (cases.empty()) return {};
  if (form == Form::kTerminal) return {{.table = short_table(cases), .notes = training_notes(cases)}};
  const auto plots = [&](Plots (*make)(const Cases&)) { return form == Form::kPage ? make(cases) : Plots{}; };
  return {{.chart = {"scaling_curve", "Scaling over ranks", scaling_reading(cases), "efficiency",
                     plots(scaling_plots)},
           .table = scaling_table(cases)},
          {.chart = {"scaling_efficiency", "Efficiency over ranks", kEfficiencyReading, "efficiency",
                     plots(efficiency_plots)}},
          {.chart = {"total_time", "Time of all steps", kTotalReading, "p50_ms", plots(total_time_plots)}},
          {.chart = {"step_parts", "Where the time of a step goes", kPartsReading, "exposed_share",
                     plots(part_plots)},
           .table = part_table(cases)},
          {.title = "Loss budget",
           .chart = {"loss_budget", "", budget_reading(cases), "efficiency", plots(budget_plots)},
           .table = budget_table(cases)},
          prediction_section(cases),
          {.chart = {"loss", "Loss over epochs", loss_reading(cases), "loss", plots(loss_plots)},
           .notes = training_notes(cases)}};
}

// Ranks, epochs and buckets of one case.
Sections training_details(const ReportCase& entry) {
  const CaseResult& one = *entry.one;
  if (!is_training(one)) return {};
  const Training& t = *one.training();
  return {{.paragraphs = {facts_text(t), collectives_text(t), loader_text(one), checkpoint_text(t),
                          scope_text(one)}},
          {.chart = {"timeline", "Timeline of two steps", kTimelineReading, "straggler_index",
                     timeline_plots(entry), one.case_id}},
          {.chart = {"rank_times", "Own time of each rank", kRankTimeReading, "straggler_index",
                     rank_time_plots(entry), one.case_id}},
          {.chart = {"stragglers", "Late ranks by step", kLatenessReading, "straggler_index",
                     straggler_plots(entry), one.case_id}},
          {.title = "Ranks", .table = rank_table(t)},
          {.title = kDisturbancesTitle, .table = disturbance_table(t)},
          {.title = "Epochs", .table = epoch_table(t)},
          {.title = "Buckets of gradients, from the start of a step", .table = bucket_table(t)},
          {.title = "Restarts", .table = restart_table(t)}};
}

constexpr const char* kNoTraining = "no measured case trained";
constexpr const char* kNoRanks = "no training case may be compared with one of fewer ranks";
constexpr const char* kNoSteps = "no case has stored steps of several ranks";
constexpr std::array kTrainingCharts{
    ChartReason{"scaling_efficiency", kNoRanks},
    ChartReason{"scaling_curve", kNoRanks},
    ChartReason{"loss_budget", "no training case has the costs of its steps beside one of fewer ranks"},
    ChartReason{"total_time", kNoTraining},
    ChartReason{"step_parts", kNoTraining},
    ChartReason{"loss", "no case trained for two epochs"},
    ChartReason{"timeline", kNoSteps},
    ChartReason{"rank_times", kNoSteps},
    ChartReason{"stragglers", "no case has stored steps in which a rank was late"},
};

}  // namespace

constexpr Subject kTraining{.id = "training",
                            .heading = "Training",
                            .of_runs = training_sections,
                            .of_case = training_details,
                            .charts = kTrainingCharts};

}  // namespace paceline::report
