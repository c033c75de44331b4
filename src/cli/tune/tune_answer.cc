// SPDX-License-Identifier: MIT
#include "cli/tune/tune_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "analysis/case_query.h"
#include "analysis/metric_value.h"
#include "answer/text_layout.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/tune/arm_plan.h"
#include "cli/tune/serving.h"
#include "result/figures/peak_memory.h"

namespace paceline::cli {
namespace {

using answer::Verdict;
using tune::Fate;
using tune::Found;

struct FoundTraits {
  Found found;
  std::string_view name;   // in files
  std::string_view words;  // of its check
  Verdict verdict;
  ExitCode exit;
};
constexpr std::array<FoundTraits, 5> kFoundRows{
    {{Found::kBest, "best", "one arm is better than all others", Verdict::kYes, ExitCode::kOk},
     {Found::kEqual, "equal", "several arms are not told apart", Verdict::kYes, ExitCode::kOk},
     {Found::kUncertain, "uncertain", "the best arm so far is not certain", Verdict::kCannotSay,
      ExitCode::kInconclusive},
     {Found::kInfeasible, "infeasible", "no arm meets every limit", Verdict::kNo, ExitCode::kGateFailed},
     {Found::kNothing, "nothing", "no arm was measured", Verdict::kNo, ExitCode::kWorkloadFailed}}};
constexpr std::array<std::string_view, 4> kFateNames{"racing", "dropped", "missed", "failed"};

const FoundTraits& traits(Found found) {
  return kFoundRows.at(static_cast<std::size_t>(found));
}

const result::CaseResult& result_of(const TuneOutcome& outcome, std::size_t arm) {
  return outcome.raced.run.cases.at(arm);
}

std::vector<Number> memory_of(const RacedArms& raced) {
  std::vector<Number> bytes;
  for (const auto& one : raced.run.cases) {
    const auto peak = result::peak_memory(one);
    bytes.push_back(peak ? Number(static_cast<double>(*peak)) : Number::missing(peak.reason()));
  }
  return bytes;
}

Number metric_number(std::string_view metric, const result::CaseResult& one) {
  const auto value = analysis::metric_value(*result::find_metric(metric), one);
  return {value.value, value.reason};
}

// The arm to take first, then those in the race, then the others, by cost.
std::vector<std::size_t> shown_order(const TuneOutcome& outcome) {
  const auto& search = outcome.raced.search;
  const auto best = search.best();
  const auto cost = [&](std::size_t i) {
    return best ? search.estimate(i, *best).value_or(HUGE_VAL) : HUGE_VAL;
  };
  std::vector<std::size_t> order(search.arms().size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) {
    const auto& arm = search.arms()[i];
    return std::tuple(outcome.found.arm != i, arm.fate, cost(i), arm.key);
  });
  return order;
}

std::string became(const TuneOutcome& outcome, std::size_t i) {
  const auto& arm = outcome.raced.search.arms()[i];
  const auto rounds = plural(static_cast<std::int64_t>(arm.rounds), "round");
  if (arm.fate == Fate::kFailed) return "failed: " + arm.reason;
  if (arm.fate == Fate::kDropped) return fmt::format("dropped after {}", rounds);
  if (arm.fate == Fate::kMissed) return fmt::format("dropped after {}: {}", rounds, arm.reason);
  if (arm.rounds == 0)
    return outcome.interrupted ? "not measured: interrupted" : "not measured: the budget was over";
  if (outcome.found.arm == i && outcome.found.found != Found::kUncertain) return "take it";
  const bool compared = outcome.found.found == Found::kBest || outcome.found.found == Found::kEqual;
  const bool equal = compared && std::ranges::count(outcome.found.equals, i) > 0;
  return equal ? "not told apart from the best" : "in the race";
}

std::string ratio_cell(const TuneOutcome& outcome, std::size_t i) {
  const auto& search = outcome.raced.search;
  const auto best = search.best();
  if (best == i) return "best";
  if (const auto range = tune::cost_over_best(search, i))  // symmetric in logarithms
    return fmt::format("{} ({})", format_fixed(std::sqrt(range->low * range->high), 2),
                       analysis::format_range(range->low, range->high));
  const auto estimate = best ? search.estimate(i, *best) : std::nullopt;
  return estimate ? format_fixed(*estimate, 2) : answer::kNone;
}

std::string or_none(std::string words) {
  return words.empty() ? answer::kNone : words;
}

answer::Section arms_section(const TuneOutcome& outcome) {
  const auto metric = outcome.request.objective->metric;
  answer::Section section{.title = "Arms"};
  const bool by_ranks = traits_of(outcome.request.kind).by_ranks;
  section.table = {.heads = {"arm", std::string(outcome.request.objective->words), "cost over the best",
                             by_ranks ? "memory of rank 0" : "memory", "rounds", "result"},
                   .numbers_to = 5,
                   .labels = 40,
                   .last_stays = true,
                   .row_heads = true};
  for (const auto i : shown_order(outcome)) {
    const auto& arm = outcome.raced.search.arms()[i];
    const auto& one = result_of(outcome, i);
    const auto range = metric_range(metric, one);
    const auto value = metric_words(metric, one);
    section.table.add(one.label, or_none(value + (range.empty() ? "" : fmt::format(" ({})", range))),
                      ratio_cell(outcome, i), or_none(metric_words("memory_mb", one)),
                      std::to_string(arm.rounds), became(outcome, i));
    if (outcome.found.arm != i && arm.fate != Fate::kRacing)
      section.table.rows.back().tone = answer::Tone::kFaint;
  }
  answer::share_labels(section.table);
  section.notes.push_back(fmt::format(
      "The lower end of a cost is the bound that drops an arm: over {} and {} looks it drops the best one in "
      "at "
      "most {} of searches. The upper end has the same level; costs of dropped arms are from the look that "
      "dropped them. Arms within {} are equal.",
      plural(std::ssize(outcome.raced.search.arms()), "arm"), outcome.raced.search.rules().looks.size(),
      format_percent(outcome.raced.search.rules().alpha, 0),
      format_percent(outcome.raced.search.rules().margin, 0)));
  return section;
}

// Negates figures of which more is better.
std::vector<std::size_t> front_of(const TuneOutcome& outcome, const std::vector<Number>& figures,
                                  const std::vector<Number>& memory) {
  auto first = figures;
  if (result::find_metric(outcome.request.objective->metric)->better == result::Better::kHigher)
    for (auto& value : first)
      if (value) value = -*value;
  return tune::pareto_front(first, memory);
}

answer::Point point_of(const TuneOutcome& outcome, std::size_t i, double figure, double bytes,
                       const std::string& text = {}) {
  const auto value =
      analysis::metric_value(*result::find_metric(outcome.request.objective->metric), result_of(outcome, i));
  return {.x = figure,
          .y = bytes * 1e-6,
          .x_low = value.ci_low.value_or(answer::kMissing),
          .x_high = value.ci_high.value_or(answer::kMissing),
          .hint = result_of(outcome, i).label,
          .text = text};
}

answer::Section front_section(const TuneOutcome& outcome) {
  answer::Section section{.title = "Pareto front"};
  const auto& objective = *outcome.request.objective;
  if (objective.name == "memory") return section;
  std::vector<Number> figures;
  for (const auto& one : outcome.raced.run.cases) figures.push_back(metric_number(objective.metric, one));
  const auto memory = memory_of(outcome.raced);
  answer::Line all{.points = {}, .colour = "c1", .mark = answer::Line::Mark::kCircle, .name = "other arms"};
  all.stroke = answer::Line::Stroke::kHidden;
  answer::Line front{.points = {},
                     .colour = "c0",
                     .stroke = answer::Line::Stroke::kSolid,
                     .mark = answer::Line::Mark::kDot,
                     .text = answer::Line::Text::kRight,
                     .name = "not beaten in both"};
  std::vector<std::string> labels;
  for (const auto& one : outcome.raced.run.cases) labels.push_back(one.label);
  const auto own = answer::split_shared(labels).own;
  std::vector<std::string> unbeaten;
  const auto best = front_of(outcome, figures, memory);
  for (const auto i : best) {
    front.points.push_back(point_of(outcome, i, *figures[i], *memory[i], own[i]));
    unbeaten.push_back(labels[i]);
  }
  for (std::size_t i = 0; i < figures.size(); ++i)
    if (figures[i] && memory[i] && std::ranges::count(best, i) == 0)
      all.points.push_back(point_of(outcome, i, *figures[i], *memory[i]));
  if (front.points.empty()) return section;
  section.chart = {
      .id = "pareto",
      .title = {},
      .reading = fmt::format("Not beaten in both {} and memory: {}.", objective.words, join(unbeaten, "; ")),
      .metric = {}};
  const auto unit = result::find_metric(objective.metric)->unit;
  answer::Plot plot{.description = section.chart.reading,
                    .x = {.title = fmt::format("{} ({})", objective.words, unit), .from_zero = false},
                    .y = {.title = "memory (MB)"}};
  plot.lines = {std::move(all), std::move(front)};
  section.chart.plots.push_back(std::move(plot));
  return section;
}

// Each command is a paragraph, so that none is wrapped into another.
answer::Section next_section(const TuneOutcome& outcome) {
  const bool serves = traits_of(outcome.request.kind).checks_outputs;
  answer::Section section{.title = serves ? "Measure and serve it" : "Measure it, and train with it"};
  const auto& arm = outcome.raced.cases.at(*outcome.found.arm);
  const auto folder = outcome.raced.folder;
  section.paragraphs.push_back("paceline run " + analysis::shell_word((folder / kPlanFile).string()));
  if (!serves)
    section.paragraphs.push_back(command_of_arm(outcome.raced.plan, arm));
  else if (const auto program = program_of_arm(folder, arm); program.lines.empty())
    section.notes.push_back(
        fmt::format("serve.py, a program that serves the arm, is left out: {}.", program.missing));
  else
    section.paragraphs.push_back("python3 " + analysis::shell_word((folder / kServingFile).string()));
  return section;
}

std::vector<answer::Check> checks_of(const TuneOutcome& outcome) {
  const auto& row = traits(outcome.found.found);
  std::vector<answer::Check> checks{{"search", row.verdict, std::string(row.words), "", row.exit, "tune"}};
  if (!outcome.found.arm) return checks;
  for (const auto& one : outcome.raced.search.arms()[*outcome.found.arm].constraints)
    checks.push_back({one.name, one.verdict, one.value, "", ExitCode::kOk, "tune"});
  return checks;
}

// Words for what is known of the outputs of the arm to take.
std::string outputs_text(const result::Correctness& c) {
  if (c.verdict == Verdict::kYes)
    return fmt::format("Its outputs agree with {} on {}.",
                       c.reference.empty() ? "the reference" : c.reference, plural(c.samples, "input"));
  const auto& why = c.verdict_because.empty() ? c.unchecked_because : c.verdict_because;
  return as_sentence("Whether its outputs hold is not known" + (why.empty() ? "" : ": " + why));
}

// A faster step is another training where batch or precision are not those of the command without options.
void add_convergence(const TuneOutcome& outcome, answer::Answer& answer) {
  if (const auto words = convergence_words(outcome); !words.empty())
    answer.findings.push_back(
        {.id = "tuned_convergence",
         .severity = "warning",
         .text = words,
         .advice = "Train both to the same loss, and compare the time that it takes: --epochs."});
}

void add_accuracy(const TuneOutcome& outcome, answer::Answer& answer) {
  const auto& c = result_of(outcome, *outcome.found.arm).correctness;
  const bool hold = c.verdict == Verdict::kYes;
  answer.findings.push_back(
      {.id = "tuned_outputs",
       .severity = hold ? "insight" : "warning",
       .text = outputs_text(c),
       .advice = hold ? "" : "Give your own inputs with --load-inputs, and --min-accuracy."});
}

void add_remarks(const TuneOutcome& outcome, answer::Answer& answer) {
  const auto& raced = outcome.raced;
  if (outcome.interrupted)
    answer.remarks.emplace_back("interrupted: only rounds that were complete by then count");
  if (raced.cut_short)
    answer.remarks.push_back(
        fmt::format("the budget was over after {}; paceline tune --resume {} --budget 10m goes on",
                    plural(static_cast<std::int64_t>(raced.search.rounds()), "round"),
                    analysis::shell_word(raced.folder.string())));
  constexpr std::size_t kNamed = 5;
  for (std::size_t i = 0; i < std::min(kNamed, raced.left_out.size()); ++i)
    answer.remarks.push_back(
        fmt::format("left out: {}: {}", raced.left_out[i].label, raced.left_out[i].reason));
  if (raced.left_out.size() > kNamed)
    answer.remarks.push_back(fmt::format("left out: {} more", raced.left_out.size() - kNamed));
}

nlohmann::json arm_json(const TuneOutcome& outcome, std::size_t i) {
  const auto& arm = outcome.raced.search.arms()[i];
  const auto& one = result_of(outcome, i);
  const auto value = metric_number(outcome.request.objective->metric, one);
  const auto memory = metric_number("memory_mb", one);
  nlohmann::json json{{"case_id", arm.key},
                      {"label", one.label},
                      {"fate", kFateNames.at(static_cast<std::size_t>(arm.fate))},
                      {"reason", arm.reason},
                      {"rounds", arm.rounds},
                      {"value", value ? nlohmann::json(*value) : nlohmann::json()},
                      {"memory_mb", memory ? nlohmann::json(*memory) : nlohmann::json()}};
  if (!value) json["value_reason"] = value.reason();
  if (!memory) json["memory_mb_reason"] = memory.reason();
  const bool is_best = outcome.raced.search.best() == i;
  const auto ratio = tune::cost_over_best(outcome.raced.search, i);
  json["ratio_low"] = ratio ? nlohmann::json(ratio->low) : nlohmann::json();
  json["ratio_high"] = ratio ? nlohmann::json(ratio->high) : nlohmann::json();
  if (!ratio)
    json["ratio_low_reason"] = json["ratio_high_reason"] = is_best ? "it is the best" : "too few rounds";
  return json;
}

nlohmann::json search_json(const TuneOutcome& outcome) {
  const auto& search = outcome.raced.search;
  nlohmann::json json{{"kind", traits_of(outcome.request.kind).name},
                      {"objective", outcome.request.objective->name},
                      {"metric", outcome.request.objective->metric},
                      {"found", traits(outcome.found.found).name},
                      {"rounds", search.rounds()},
                      {"alpha", search.rules().alpha},
                      {"margin", search.rules().margin},
                      {"cut_short", outcome.raced.cut_short},
                      {"interrupted", outcome.interrupted},
                      {"run", outcome.raced.folder.string()},
                      {"arms", nlohmann::json::array()},
                      {"equals", nlohmann::json::array()}};
  json["arm"] = outcome.found.arm ? nlohmann::json(search.arms()[*outcome.found.arm].key) : nlohmann::json();
  if (!outcome.found.arm) json["arm_reason"] = "no arm was measured";
  if (outcome.found.arm && traits_of(outcome.request.kind).trains)
    json["command"] = command_of_arm(outcome.raced.plan, outcome.raced.cases.at(*outcome.found.arm));
  for (const auto i : shown_order(outcome)) json["arms"].push_back(arm_json(outcome, i));
  for (const auto i : outcome.found.equals) json["equals"].push_back(search.arms()[i].key);
  return json;
}

// Name of a file or folder without its path, or of a built-in model.
std::string last_name(const std::string& model) {
  return (std::filesystem::path(model) / ".").lexically_normal().parent_path().filename().string();
}

}  // namespace

TuneOutcome outcome_of(const TuneRequest& request, const RacedArms& raced, bool interrupted) {
  std::vector<bool> verified;
  for (const auto& one : raced.run.cases)
    verified.push_back(one.correctness.verdict == answer::Verdict::kYes);
  return {request, raced, tune::conclude(raced.search, memory_of(raced), verified), interrupted};
}

answer::Answer answer_of(const TuneOutcome& outcome) {
  answer::Answer answer;
  const auto& cases = outcome.raced.cases;
  const auto& kind = traits_of(outcome.request.kind);
  answer.title =
      fmt::format("Search for {}{}: {}", kind.trains ? "training " : "",
                  last_name(cases.front().settings.text("model")), outcome.request.objective->words);
  answer.sentence = sentence_of(outcome);
  answer.checks = checks_of(outcome);
  answer.sections.push_back(arms_section(outcome));
  if (auto front = front_section(outcome); !front.chart.plots.empty())
    answer.sections.push_back(std::move(front));
  if (outcome.found.arm) {
    answer.sections.push_back(next_section(outcome));
    if (kind.checks_outputs) add_accuracy(outcome, answer);
    if (kind.trains) add_convergence(outcome, answer);
  }
  add_remarks(outcome, answer);
  answer.data = search_json(outcome);
  return answer;
}

}  // namespace paceline::cli
