// SPDX-License-Identifier: MIT
#include "report/training_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/case_query.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/escape.h"
#include "report/html_parts.h"
#include "report/simple_table.h"
#include "report/text_layout.h"
#include "result/training_scaling.h"

namespace paceline::report {
namespace {

using result::CaseResult;
using result::Number;
using result::Training;

constexpr std::size_t kMaxTrainingLabel = 35;  // on a terminal of 100 columns
constexpr const char* kNoClaim = "no claim";

std::string share(const Number& part, const Number& whole) {
  return part && whole && *whole > 0 ? format_percent(*part / *whole) : kNone;
}
std::string ms(const Number& ns) {
  return ns ? format_ms(*ns) : kNone;
}
std::string significant(const Number& number) {
  return number ? format_significant(*number) : kNone;
}

// Why the scaling may not be claimed; empty where it may, and for a case without one of fewer ranks.
std::string doubt_of(const result::RunResult& run, const CaseResult& one) {
  if (one.scaling.empty()) return {};
  return result::scaling_doubt(one, analysis::find_case(run, one.scaling.front().base_case_id));
}

std::string efficiency_text(const result::RunResult& run, const CaseResult& one) {
  if (one.scaling.empty()) return kNone;
  return doubt_of(run, one).empty() ? with_interval(result::efficiency_of(one)) : kNoClaim;
}

std::string speedup_text(const result::RunResult& run, const CaseResult& one) {
  if (one.scaling.empty()) return kNone;
  return doubt_of(run, one).empty() ? fmt::format("{:.2f}", *one.scaling.front().speedup) : kNoClaim;
}

// Shares of the step time by part, in the order of the step.
std::vector<std::string> part_shares(const Training& t) {
  const auto percent = [](const Number& of_step) { return of_step ? format_percent(*of_step) : kNone; };
  const auto& p = t.parts;
  if (!result::has_shares(t))
    return {percent(t.data_wait_share), share(p.forward_ns, p.step_ns), share(p.backward_ns, p.step_ns),
            t.ddp ? percent(t.exposed_share) : kNone, share(p.optimizer_ns, p.step_ns)};
  const auto& s = t.shares;
  return {percent(s.data_wait), percent(s.forward), percent(s.backward), percent(s.exposed),
          percent(s.optimizer)};
}

SimpleTable terminal_table_of(const result::RunResult& run) {
  SimpleTable table{{"training", "efficiency", "data", "fwd", "bwd", "exposed", "opt", "loss"}, 1, {}};
  std::vector<std::string> labels;
  for (const CaseResult& one : run.cases)
    if (is_training(one)) labels.push_back(printable(one.label));
  labels = short_labels(labels, kMaxTrainingLabel);
  for (const CaseResult& one : run.cases) {
    if (!is_training(one)) continue;
    const Training& t = one.training.front();
    std::vector<std::string> row{labels.at(table.rows.size()), efficiency_text(run, one)};
    for (auto& cell : part_shares(t)) row.push_back(std::move(cell));
    row.push_back(significant(t.last_loss));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The item that all cases count, else "items".
std::string item_of(const std::vector<ReportCase>& cases) {
  const auto& item = cases.front().one->throughput.item;
  const bool same = std::all_of(cases.begin(), cases.end(),
                                [&](const ReportCase& e) { return e.one->throughput.item == item; });
  return same && !item.empty() ? item : "items";
}

// What the chart over ranks shows, and more.
SimpleTable scaling_table(const std::vector<ReportCase>& cases) {
  SimpleTable table{{"case", "ranks", "step p50 ms", item_of(cases) + "/s", "speed-up", "efficiency",
                     "straggler index", "loss", "total"},
                    1,
                    {}};
  for (const ReportCase& entry : cases) {
    const CaseResult& one = *entry.one;
    const Training& t = one.training.front();
    table.rows.push_back({name_of(entry), std::to_string(one.benchmark.world_size),
                          with_interval(one.headline.p50_ns, 1e-6),
                          one.throughput.per_s.value ? format_rate(*one.throughput.per_s.value) : kNone,
                          speedup_text(entry.run->result, one), efficiency_text(entry.run->result, one),
                          significant(t.straggler_index), significant(t.last_loss),
                          t.total_ns ? format_duration_ns(*t.total_ns) : kNone});
  }
  return table;
}

SimpleTable part_table(const std::vector<ReportCase>& cases) {
  SimpleTable table{{"share of a step", "data wait", "forward", "backward", "exposed", "optimizer"}, 1, {}};
  for (const ReportCase& entry : cases) {
    std::vector<std::string> row{name_of(entry)};
    for (auto& cell : part_shares(entry.one->training.front())) row.push_back(std::move(cell));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<ReportCase> training_cases(std::span<const ReportRun> runs) {
  auto cases = side_by_side(runs);
  std::erase_if(cases, [](const ReportCase& entry) { return !is_training(*entry.one); });
  return cases;
}

// The notes of the cases, and why scaling may not be claimed, each once.
std::vector<std::string> notes_of(const std::vector<ReportCase>& cases) {
  std::vector<std::string> notes;
  const auto add = [&](const std::string& note) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  };
  for (const ReportCase& entry : cases) {
    for (const auto& note : entry.one->training.front().notes) add(note);
    if (!result::has_shares(entry.one->training.front()))
      add("a result of an earlier version: its parts of a step are medians, and shares of them need not add "
          "up");
    if (const auto doubt = doubt_of(entry.run->result, *entry.one); !doubt.empty())
      add("what more ranks gain is not claimed: " + doubt);
  }
  return notes;
}

// The launcher, the communication backend, and the model.
std::string facts_text(const Training& t) {
  std::string text = fmt::format("{} started by {}", plural(std::ssize(t.ranks), "rank"),
                                 t.launcher.empty() ? "paceline" : t.launcher);
  if (!t.backend.empty()) text += " over " + t.backend;
  if (t.parameters) text += fmt::format("; {} parameters", *t.parameters);
  if (t.steps) text += fmt::format("; {} steps", *t.steps);
  if (t.skipped_steps && *t.skipped_steps > 0)
    text += fmt::format(", {} skipped by the scaler", *t.skipped_steps);
  if (t.straggler_rank) text += fmt::format("; rank {} is persistently late", *t.straggler_rank);
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
  const Training& t = one.training.front();
  if (!t.loader_samples_per_s || !one.throughput.per_s.value) return {};
  return fmt::format("The loaders could deliver {} {}/s, and training took {}.",
                     format_rate(*t.loader_samples_per_s), one.throughput.item,
                     format_rate(*one.throughput.per_s.value));
}

SimpleTable rank_table(const Training& t) {
  SimpleTable table{{"rank", "host", "CPUs", "threads", "step ms", "compute ms", "data wait ms", "forward ms",
                     "backward ms", "exposed ms", "optimizer ms", "slowest", "peak memory"},
                    3,
                    {}};
  const bool several = t.ranks.size() > 1;
  for (const auto& r : t.ranks)
    table.rows.push_back({std::to_string(r.rank), r.host, r.cpus, std::to_string(r.threads),
                          ms(r.parts.step_ns), ms(r.compute_ns), ms(r.parts.data_wait_ns),
                          ms(r.parts.forward_ns), ms(r.parts.backward_ns),
                          t.ddp ? ms(r.parts.exposed_ns) : kNone, ms(r.parts.optimizer_ns),
                          several ? plural(r.slowest_steps, "step") : kNone,
                          r.rss_peak_bytes ? format_bytes(static_cast<double>(*r.rss_peak_bytes)) : kNone});
  return table;
}

bool has_held_out(const result::EpochFigures& epoch) {
  return static_cast<bool>(epoch.eval_samples);
}

// Figures of held-out data only where there are any.
SimpleTable epoch_table(const Training& t) {
  SimpleTable table{
      {"epoch", "steps", "samples", "loss", "accuracy", "learning rate", "seconds", "samples/s"}, 0, {}};
  const bool held_out = std::any_of(t.epochs.begin(), t.epochs.end(), has_held_out);
  if (held_out) table.heads.insert(table.heads.end(), {"held-out loss", "held-out accuracy"});
  const auto percent = [](const Number& of_one) { return of_one ? format_percent(*of_one) : kNone; };
  for (const auto& e : t.epochs) {
    table.rows.push_back({std::to_string(e.epoch + 1), std::to_string(e.steps), std::to_string(e.samples),
                          significant(e.loss), percent(e.accuracy), significant(e.learning_rate),
                          significant(e.seconds), e.samples_per_s ? format_rate(*e.samples_per_s) : kNone});
    if (held_out)
      table.rows.back().insert(table.rows.back().end(), {significant(e.eval_loss), percent(e.eval_accuracy)});
  }
  return table;
}

SimpleTable bucket_table(const Training& t) {
  SimpleTable table{{"bucket", "size", "launched ms", "finished ms"}, 0, {}};
  for (std::size_t i = 0; i < t.buckets.size(); ++i)
    table.rows.push_back({std::to_string(i + 1), format_bytes(static_cast<double>(t.buckets[i].bytes)),
                          ms(t.buckets[i].launched_ns), ms(t.buckets[i].finished_ns)});
  return table;
}

SimpleTable restart_table(const Training& t) {
  SimpleTable table{{"fault", "noticed after", "first step after", "steps lost", "ranks"}, 1, {}};
  for (const auto& r : t.restarts)
    table.rows.push_back({r.cause, r.detect_ns ? format_duration_ns(*r.detect_ns) : kNone,
                          r.first_step_ns ? format_duration_ns(*r.first_step_ns) : kNone,
                          r.steps_lost ? std::to_string(*r.steps_lost) : kNone,
                          fmt::format("{} → {}", r.world_before, r.world_after)});
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

std::string paragraph(const std::string& text) {
  return text.empty() ? "" : "<p>" + escape_html(text) + "</p>\n";
}

std::string titled(const char* title, const SimpleTable& table) {
  const std::string html = html_of(table);
  return html.empty() ? "" : fmt::format("<h4>{}</h4>\n{}", title, html);
}

std::string scaling_reading(const std::vector<ReportCase>& cases) {
  const ReportCase* widest = nullptr;
  for (const ReportCase& entry : cases)
    if (!entry.one->scaling.empty() &&
        (widest == nullptr || entry.one->scaling.front().world > widest->one->scaling.front().world))
      widest = &entry;
  if (widest == nullptr) return {};
  const result::RunResult& run = widest->run->result;
  const CaseResult& one = *widest->one;
  const std::string base = plural(one.scaling.front().base_world, "rank"), doubt = doubt_of(run, one);
  const std::string gain = doubt.empty()
                               ? fmt::format("{} times the throughput of {}, efficiency {}",
                                             speedup_text(run, one), base, efficiency_text(run, one))
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
    const auto& epochs = entry.one->training.front().epochs;
    if (epochs.size() < 2 || !epochs.front().loss || !epochs.back().loss) continue;
    ends += fmt::format("{}{}: {} to {} in {}{}", ends.empty() ? "" : "; ", name_of(entry),
                        format_significant(*epochs.front().loss), format_significant(*epochs.back().loss),
                        plural(std::ssize(epochs), "epoch"), held_out_text(entry.one->training.front()));
  }
  return ends.empty() ? "" : "Mean over the steps of an epoch, while the weights change. " + ends + ".";
}

std::string chart(const char* id, const char* title, const std::string& reading, const char* metric) {
  if (reading.empty()) return {};
  return fmt::format(
      "<figure id=\"chart-{0}\"><h3>{1}</h3><div class=\"plots\" data-chart=\"{0}\"></div>"
      "<figcaption>{2} {3}</figcaption></figure>\n",
      id, title, escape_html(reading), formula_link(metric));
}

}  // namespace

bool is_training(const CaseResult& one) {
  return analysis::is_ok(one) && !one.training.empty();
}

std::string training_terminal(const result::RunResult& run, std::size_t width) {
  const std::string table = terminal_of(terminal_table_of(run), width);
  if (table.empty()) return {};
  const ReportRun only{run, {}};
  std::string out = "\n" + table;
  for (const auto& note : notes_of(training_cases(std::span(&only, 1))))
    for (const auto& line : wrap(printable(note), width)) out += "  " + line + "\n";
  return out;
}

std::string training_markdown(std::span<const ReportRun> runs) {
  const auto cases = training_cases(runs);
  if (cases.empty()) return {};
  std::string out = "## Training\n\n" + markdown_of(scaling_table(cases)) + markdown_of(part_table(cases));
  for (const auto& note : notes_of(cases)) out += "- " + escape_markdown(note) + "\n";
  return out + "\n";
}

std::string training_html(std::span<const ReportRun> runs) {
  const auto cases = training_cases(runs);
  if (cases.empty()) return {};
  std::string out = "<section id=\"training\"><h2>Training</h2>\n";
  out += chart("scaling", "Scaling over ranks", scaling_reading(cases), "efficiency");
  out += html_of(scaling_table(cases));
  out += chart(
      "parts", "Where the time of a step goes",
      "Means over the timed steps and ranks; exposed communication is what the backward pass did not hide, "
      "waiting for slower ranks included. The parts add up to the mean step, less what the slowest rank "
      "took longer than the others.",
      "exposed_share");
  out += html_of(part_table(cases));
  out += chart("loss", "Loss over epochs", loss_reading(cases), "loss");
  for (const auto& note : notes_of(cases)) out += "<p class=\"note\">" + escape_html(note) + ".</p>\n";
  return out + "</section>\n";
}

std::string training_details_html(const CaseResult& one) {
  if (!is_training(one)) return {};
  const Training& t = one.training.front();
  return paragraph(facts_text(t)) + paragraph(collectives_text(t)) + paragraph(loader_text(one)) +
         paragraph(checkpoint_text(t)) + paragraph(scope_text(one)) + titled("Ranks", rank_table(t)) +
         titled("Epochs", epoch_table(t)) +
         titled("Buckets of gradients, from the start of a step", bucket_table(t)) +
         titled("Restarts", restart_table(t));
}

}  // namespace paceline::report
