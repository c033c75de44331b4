// SPDX-License-Identifier: MIT
// The HTML page's details of cases.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "analysis/case_query.h"
#include "analysis/metric_value.h"
#include "base/text.h"
#include "base/units.h"
#include "report/answer_parts.h"
#include "report/case_cells.h"
#include "report/environment_rows.h"
#include "report/html_parts.h"
#include "report/subjects.h"
#include "result/figures/device_figures.h"

namespace paceline::report {
namespace {

using result::MetricValue;
using Rows = std::vector<std::pair<std::string, std::string>>;

// Agreements are near 100 %, where two digits would show no difference; so is what the device takes of a
// time.
bool is_agreement(std::string_view name) {
  return name.ends_with("_agreement") || name.starts_with("top1_") || name == "device_share";
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
  if (!value.value) return value.reason.empty() ? "not measured" : spaced(value.reason);
  if (row.name == "speedup" && one.speedup.verdict == result::Speed::kInconclusive)
    return "not decided: " + interval_text(row, value);
  return {};
}

// Figures that are missing for the same reason share a row.
Section figures_section(const CaseResult& one) {
  Section section{.title = "Figures",
                  .table = {.heads = {"figure", "value", "interval or reason"},
                            .numbers_from = kNoNumbers,
                            .css = "measured",
                            .row_heads = true}};
  Groups missing;  // by reason
  for (const auto& row : result::metrics()) {
    if (!row.concerns(one)) continue;
    const MetricValue value = analysis::metric_value(row, one);
    const std::string reason = no_number(row, value, one);
    if (reason.empty())
      section.table.add(linked(std::string(row.title), fmt::format("formula-{}", row.name)),
                        (value.at_least ? "at least " : "") + value_text(row, *value.value),
                        interval_text(row, value));
    else
      add_to(missing, reason, std::string(row.title));
  }
  for (const auto& [reason, figures] : missing)
    section.table.add(join(figures, ", "), Cell(kNone, "missing"), reason);
  return section;
}

Section processes_section(const CaseResult& one) {
  const bool blocks = one.back_to_back_ns.value.value().has_value();
  Table table{.heads = {"process", blocks ? "blocks" : "samples", blocks ? "back to back ms" : "p50 ms",
                        "first ms", "foreign CPU", "warm-up iterations", "stopped"},
              .numbers_from = kNoNumbers,
              .css = "processes"};
  for (const auto& r : one.repetitions)
    table.add(std::to_string(r.index + 1), std::to_string(r.n), or_none(r.p50_ns, format_ms),
              or_none(r.first_iteration_ns, format_ms), percent_or_none(r.foreign_cpu_frac),
              fmt::format("{} ({})", r.warmup_iterations, r.steady_state), spaced(r.stop_reason));
  return {.title = "Processes", .table = table};
}

constexpr std::array kTitles{"Settings as the engine reported them", "Effective plan"};

std::array<Rows, kTitles.size()> settings_and_plan(const CaseResult& one) {
  return {Rows(one.effective_settings.begin(), one.effective_settings.end()),
          flat_rows(one.config_effective)};
}

// Rows with the same value in all of several cases.
using SharedRows = std::array<std::set<Rows::value_type>, kTitles.size()>;

SharedRows shared_rows(const std::vector<ReportCase>& entries) {
  SharedRows shared;
  for (const auto& entry : entries) {
    auto rows = settings_and_plan(*entry.one);
    for (std::size_t at = 0; at < kTitles.size() && entries.size() > 1; ++at) {
      const std::set mine(rows[at].begin(), rows[at].end());
      if (&entry == &entries.front()) shared[at] = mine;
      std::erase_if(shared[at], [&](const auto& row) { return !mine.contains(row); });
    }
  }
  return shared;
}

// `beside`: what is equal in all cases stands elsewhere.
std::string rows_under(const char* title, const Rows& rows, bool beside) {
  if (rows.empty()) return {};
  const auto* rest = beside ? ", beside what is <a href=\"#shared\">equal in all cases</a>" : "";
  return fmt::format("<h4>{}{}</h4>{}", title, rest, html_of(rows_table(rows)));
}

std::string settings_html(const CaseResult& one, const SharedRows& shared) {
  std::string out;
  auto rows = settings_and_plan(one);
  for (std::size_t at = 0; at < kTitles.size(); ++at) {
    std::erase_if(rows[at], [&](const auto& row) { return shared[at].contains(row); });
    out += rows_under(kTitles[at], rows[at], !shared[at].empty());
  }
  return out;
}

std::string shared_html(const SharedRows& shared) {
  std::string out;
  for (std::size_t at = 0; at < kTitles.size(); ++at)
    out += rows_under(kTitles[at], {shared[at].begin(), shared[at].end()}, false);
  if (out.empty()) return out;
  return "<details id=\"shared\"><summary>Equal in all cases: settings and plan</summary>" + out +
         "</details>\n";
}

Section notes_section(const CaseResult& one) {
  Section section{.warnings = one.noise.warnings};
  auto& paragraphs = section.paragraphs;
  if (const std::string reason = analysis::no_claim_reason(one); !reason.empty())
    paragraphs.push_back("No claim about its speed-up: " + reason + ".");
  else if (!one.speedup.no_size.empty())
    paragraphs.push_back("No size of its speed-up: " + one.speedup.no_size + ".");
  if (const std::string decides = decides_text(one); !decides.empty() && result::device_states(one).empty())
    paragraphs.push_back(fmt::format("Grade: {}.", decides));
  paragraphs.push_back(accuracy_text(one));
  paragraphs.push_back(batching_text(one));
  const std::string highest =
      analysis::is_ok(one) && !p99_reason(one).empty() ? highest_quantile_text(one) : "";
  if (!highest.empty()) paragraphs.push_back("No p99: " + p99_reason(one) + "; " + highest + ".");
  return section;
}

std::string subjects_html(const ReportCase& entry, Place place) {
  std::string out;
  for (const Subject* subject : kSubjects)
    if (subject->place == place) out += html_of(subject->of_case(entry));
  return out;
}

std::string detail_html(const ReportCase& entry, const RenderOptions& options, const SharedRows& shared,
                        bool lazily) {
  const CaseResult& one = *entry.one;
  const std::string instead = outcome_text(one);
  const bool blocks{one.back_to_back_ns.value};
  const std::string figure =
      blocks ? with_interval(one.back_to_back_ns, 1e-6) + " ms per inference, back to back"
             : with_interval(one.headline.p50_ns, 1e-6) + " ms";
  const std::string state = instead.empty() ? figure : instead;
  const std::string run = entry.letter.empty() ? "" : entry.letter + ": ";
  std::string out = fmt::format(
      "<details class=\"case\" id=\"{}\"><summary>{}{} <span class=\"state\">{}</span></summary>\n",
      case_anchor(entry), run, escape_html(one.label), escape_html(state));
  const std::string inside =
      html_of(notes_section(one)) + subjects_html(entry, Place::kBeforeChart) +
      html_of(samples_chart(entry, options)) + subjects_html(entry, Place::kBeforeFigures) +
      fmt::format("<div class=\"columns\">{}{}</div>\n", scrolling(html_of(figures_section(one))),
                  scrolling(html_of(processes_section(one)) + settings_html(one, shared))) +
      subjects_html(entry, Place::kAfterFigures) +
      html_of(Section{.title = "Last lines of its log", .log = one.log_tail});
  return out + (lazily ? "<script type=\"text/html\">" + inside + "</script>" : inside) + "</details>\n";
}

}  // namespace

std::string case_anchor(const ReportCase& entry) {
  return html_id(entry.letter.empty() ? "case-" : "case-" + entry.letter + "-", entry.one->case_id);
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
