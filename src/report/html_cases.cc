// SPDX-License-Identifier: MIT
// The HTML page's table and details of cases.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "analysis/case_query.h"
#include "analysis/metric_value.h"
#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/case_table.h"
#include "report/chart_data.h"
#include "report/environment_rows.h"
#include "report/escape.h"
#include "report/html_parts.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

using result::CaseResult;
using result::MetricValue;
using Rows = std::vector<std::pair<std::string, std::string>>;

// Replaces underscores in names of the code: fixed_iterations.
std::string spaced(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string words_of(const MetricValue& value) {
  return value.reason.empty() ? "not measured" : spaced(value.reason);
}

// Agreements are near 100 %, where two digits would show no difference.
bool is_agreement(std::string_view name) {
  return name.ends_with("_agreement") || name.starts_with("top1_");
}

// Shares of 1 are shown as percent; counts and ratios as they are.
bool is_share(std::string_view name) {
  return name.starts_with("share_") || name.ends_with("_share") || name == "train_accuracy" ||
         name == "eval_accuracy" || name.ends_with("_frac") || name.ends_with("_fraction") ||
         name.ends_with("_spread") || is_agreement(name);
}

std::string value_text(const result::Metric& one, double value) {
  if (is_share(one.name)) return format_significant(value * 100, is_agreement(one.name) ? 3 : 2) + " %";
  return fmt::format("{:.4g}{}{}", value, one.unit == "1" ? "" : " ", one.unit == "1" ? "" : one.unit);
}

// Marks a lower bound.
std::string interval_text(const result::Metric& row, const MetricValue& value) {
  if (value.at_least) return "a lower bound";
  const double scale = is_share(row.name) ? 100 : 1;
  return value.ci_low && value.ci_high ? analysis::format_range(*value.ci_low * scale, *value.ci_high * scale)
                                       : "";
}

// Why a figure is not a number; empty: it is one. As in every table, an undecided ratio is not shown as one.
std::string no_number(const result::Metric& row, const MetricValue& value, const CaseResult& one) {
  if (!value.value) return words_of(value);
  if (row.name == "speedup" && one.speedup.verdict == "inconclusive")
    return "not decided: " + interval_text(row, value);
  return {};
}

// Headings of docs/metrics.md with figures of training, and those with figures of inference only.
constexpr std::array<std::string_view, 5> kOfTraining{"training-throughput", "parts-of-a-step", "stragglers",
                                                      "scaling-efficiency",
                                                      "loss-and-accuracy-while-training"};
constexpr std::array<std::string_view, 4> kOfInference{"accuracy", "agreement", "change-of-accuracy",
                                                       "model-file"};

bool among(std::span<const std::string_view> anchors, std::string_view anchor) {
  return std::find(anchors.begin(), anchors.end(), anchor) != anchors.end();
}

// Whether a row concerns the case; most cases omit some rows.
bool concerns(const result::Metric& row, const CaseResult& one) {
  if (row.anchor == "load") return !one.load.empty();
  if (among(kOfTraining, row.anchor)) return is_training(one);
  if (among(kOfInference, row.anchor)) return !is_training(one);
  if (row.anchor == "device-time") return bool(one.device_p50_ns.value);
  return row.anchor != "cross-check" || one.cross_check.asked;
}

// Figures that are missing for the same reason share a row.
Section figures_section(const CaseResult& one) {
  Section section{.title = "Figures",
                  .table = {.heads = {"figure", "value", "interval or reason"},
                            .numbers_from = kNoNumbers,
                            .css = "measured",
                            .row_heads = true}};
  std::vector<std::pair<std::string, std::vector<std::string>>> missing;  // reason, figures
  for (const auto& row : result::metrics()) {
    if (!concerns(row, one)) continue;
    const MetricValue value = analysis::metric_value(row, one);
    const std::string reason = no_number(row, value, one);
    if (reason.empty()) {
      section.table.add({linked(std::string(row.title), fmt::format("formula-{}", row.name)),
                         (value.at_least ? "at least " : "") + value_text(row, *value.value),
                         interval_text(row, value)});
      continue;
    }
    const auto known =
        std::find_if(missing.begin(), missing.end(), [&](const auto& m) { return m.first == reason; });
    (known == missing.end() ? missing.emplace_back(reason, std::vector<std::string>{}) : *known)
        .second.emplace_back(row.title);
  }
  for (const auto& [reason, figures] : missing)
    section.table.add({join(figures, ", "), classed(kNone, "missing"), reason});
  return section;
}

Section processes_section(const CaseResult& one) {
  Table table{
      .heads = {"process", "samples", "p50 ms", "first ms", "foreign CPU", "warm-up iterations", "stopped"},
      .numbers_from = kNoNumbers,
      .css = "processes"};
  for (const auto& r : one.repetitions)
    table.add({std::to_string(r.index + 1), std::to_string(r.n), or_none(r.p50_ns, format_ms),
               or_none(r.first_iteration_ns, format_ms), percent_or_none(r.foreign_cpu_frac),
               fmt::format("{} ({})", r.warmup_iterations, r.steady_state), spaced(r.stop_reason)});
  return {.title = "Processes", .table = table};
}

// What has the same value in all of several cases, sorted.
struct SharedRows {
  Rows settings, plan;
};

Rows without(Rows rows, const Rows& shared) {
  std::erase_if(rows, [&](const auto& row) { return std::binary_search(shared.begin(), shared.end(), row); });
  return rows;
}

Rows in_both(const Rows& shared, Rows mine) {
  Rows both;
  std::sort(mine.begin(), mine.end());
  std::set_intersection(shared.begin(), shared.end(), mine.begin(), mine.end(), std::back_inserter(both));
  return both;
}

Rows settings_of(const CaseResult& one) {
  return {one.effective_settings.begin(), one.effective_settings.end()};
}

SharedRows shared_rows(const std::vector<ReportCase>& entries) {
  if (entries.size() < 2) return {};
  const auto& first = *entries.front().one;
  SharedRows shared{settings_of(first), flat_rows(first.config_effective)};
  std::sort(shared.settings.begin(), shared.settings.end());
  std::sort(shared.plan.begin(), shared.plan.end());
  for (const auto& entry : entries) {
    shared.settings = in_both(shared.settings, settings_of(*entry.one));
    shared.plan = in_both(shared.plan, flat_rows(entry.one->config_effective));
  }
  return shared;
}

constexpr const char* kSettings = "Settings as the engine reported them";
constexpr const char* kPlan = "Effective plan";

// `beside`: what is equal in all cases stands elsewhere.
std::string rows_under(const char* title, const Rows& rows, bool beside) {
  if (rows.empty()) return {};
  const auto* rest = beside ? ", beside what is <a href=\"#shared\">equal in all cases</a>" : "";
  return fmt::format("<h4>{}{}</h4>{}", title, rest, html_of(rows_table(rows)));
}

std::string settings_html(const CaseResult& one, const SharedRows& shared) {
  return rows_under(kSettings, without(settings_of(one), shared.settings), !shared.settings.empty()) +
         rows_under(kPlan, without(flat_rows(one.config_effective), shared.plan), !shared.plan.empty());
}

std::string shared_html(const SharedRows& shared) {
  if (shared.settings.empty() && shared.plan.empty()) return {};
  return "<details id=\"shared\"><summary>Equal in all cases: settings and plan</summary>" +
         rows_under(kSettings, shared.settings, false) + rows_under(kPlan, shared.plan, false) +
         "</details>\n";
}

Section notes_section(const CaseResult& one) {
  Section section{.warnings = one.noise.warnings};
  auto& paragraphs = section.paragraphs;
  if (const std::string reason = analysis::no_claim_reason(one); !reason.empty())
    paragraphs.push_back("No claim about its speed-up: " + reason + ".");
  paragraphs.push_back(accuracy_text(one));
  paragraphs.push_back(batching_text(one));
  const std::string highest =
      analysis::is_ok(one) && !p99_reason(one).empty() ? highest_quantile_text(one) : "";
  if (!highest.empty()) paragraphs.push_back("No p99: " + p99_reason(one) + "; " + highest + ".");
  return section;
}

std::string subjects_html(const CaseResult& one, Place place) {
  std::string out;
  for (const Subject* subject : subjects())
    if (subject->place == place) out += html_of(subject->of_case(one));
  return out;
}

// With this many cases their details stay text until one is opened, which spares the browser building all.
constexpr std::size_t kManyCases = 200;

std::string detail_html(const ReportCase& entry, const RenderOptions& options, const SharedRows& shared,
                        bool lazily) {
  const CaseResult& one = *entry.one;
  const std::string instead = outcome_text(one);
  const std::string state = instead.empty() ? with_interval(one.headline.p50_ns, 1e-6) + " ms" : instead;
  const std::string run = entry.letter.empty() ? "" : entry.letter + ": ";
  std::string out = fmt::format(
      "<details class=\"case\" id=\"{}\"><summary>{}{} <span class=\"state\">{}</span></summary>\n",
      case_anchor(entry), run, escape_html(one.label), escape_html(state));
  const std::string inside =
      html_of(notes_section(one)) + subjects_html(one, Place::kBeforeChart) +
      html_of(samples_chart(entry, options)) + subjects_html(one, Place::kBeforeFigures) +
      fmt::format("<div class=\"columns\">{}{}</div>\n", scrolling(html_of(figures_section(one))),
                  scrolling(html_of(processes_section(one)) + settings_html(one, shared))) +
      subjects_html(one, Place::kAfterFigures) +
      html_of(Section{.title = "Last lines of its log", .log = one.log_tail});
  return out + (lazily ? "<script type=\"text/html\">" + inside + "</script>" : inside) + "</details>\n";
}

}  // namespace

std::string case_table_html(std::span<const ReportRun> runs) {
  return scrolling(bare_html_of(case_table(runs, Form::kPage)));
}

std::string case_details_html(std::span<const ReportRun> runs, const RenderOptions& options) {
  const auto entries = side_by_side(runs);
  const auto shared = shared_rows(entries);
  std::string out;
  for (const ReportCase& entry : entries)
    out += detail_html(entry, options, shared, entries.size() > kManyCases);
  return out + shared_html(shared);
}

}  // namespace paceline::report
