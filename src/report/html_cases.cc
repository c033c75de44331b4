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
#include "report/chart_data.h"
#include "report/cross_check_text.h"
#include "report/environment_rows.h"
#include "report/escape.h"
#include "report/html_parts.h"
#include "report/layer_text.h"
#include "report/operator_text.h"
#include "report/training_text.h"
#include "result/noise_rules.h"

namespace paceline::report {
namespace {

using result::CaseResult;
using result::MetricValue;
using Rows = std::vector<std::pair<std::string, std::string>>;

// p50, p99, throughput, vs baseline, memory, of peak, foreign CPU, grade
constexpr std::size_t kColumnsAfterName = 8;

std::string number_cell(const std::string& text, std::optional<double> sort_value) {
  if (text.empty()) return "<td class=\"number missing\">–</td>";
  return fmt::format("<td class=\"number\" data-value=\"{:.6g}\">{}</td>", sort_value.value_or(0),
                     escape_html(text));
}

std::optional<double> metric(const CaseResult& one, std::string_view name) {
  return result::find_metric(name)->get(one).value;
}

std::string share_text(const CaseResult& one) {
  const auto& share = one.flops.share_of_measured_peak;
  return share ? format_percent(*share, 0) : "";
}

std::string number_cells(const ReportCase& entry, bool kept) {
  const CaseResult& one = *entry.one;
  const CaseCells cells = cells_of(entry.run->result, one);
  return number_cell(cells.p50_ms, metric(one, "p50_ms")) + number_cell(cells.p99_ms, metric(one, "p99_ms")) +
         number_cell(cells.throughput, metric(one, "throughput_per_s")) +
         number_cell(cells.no_claim.empty() ? cells.speedup : "no claim",
                     metric(one, "speedup").value_or(1)) +
         (kept ? number_cell(cells.kept, one.correctness.top1_agreement.value()) : "") +
         number_cell(cells.memory, metric(one, "memory_mb")) +
         number_cell(share_text(one), metric(one, "share_of_peak")) +
         number_cell(cells.foreign, metric(one, "foreign_cpu_frac"));
}

// The letter, with its reasons behind a summary that a keyboard can open too.
std::string grade_cell(const CaseResult& one) {
  const auto& reasons = one.grade_reasons;
  const std::string why =
      reasons.empty() ? ""
                      : fmt::format(" <details><summary>{}</summary>{}</details>",
                                    plural(std::ssize(reasons), "reason"), escape_html(join(reasons, ", ")));
  return fmt::format("<td class=\"reasons\"><span class=\"grade grade-{0}\">{0}</span>{1}</td>",
                     result::grade_letter(one.grade), why);
}

std::string table_row(const ReportCase& entry, bool kept) {
  const CaseResult& one = *entry.one;
  std::string row = fmt::format("<tr><th scope=\"row\"><a href=\"#{}\">{}</a></th>", case_anchor(entry),
                                escape_html(one.label));
  if (!entry.letter.empty()) row += "<td>" + entry.letter + "</td>";
  if (analysis::is_ok(one)) return row + number_cells(entry, kept) + grade_cell(one) + "</tr>\n";
  return row + fmt::format("<td class=\"outcome\" colspan=\"{}\">{}</td></tr>\n",
                           kColumnsAfterName + (kept ? 1 : 0), escape_html(outcome_text(one)));
}

std::string head_cell(std::string_view title, std::string_view kind) {
  return fmt::format("<th scope=\"col\" class=\"{}\" data-sort=\"{}\">{}</th>", kind, kind,
                     escape_html(title));
}

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

std::string metric_name(const result::Metric& row) {
  return fmt::format("<a href=\"#formula-{}\">{}</a>", row.name, escape_html(row.title));
}

// Why a figure is not a number; empty: it is one. As in every table, an undecided ratio is not shown as one.
std::string no_number(const result::Metric& row, const MetricValue& value, const CaseResult& one) {
  if (!value.value) return words_of(value);
  if (row.name == "speedup" && one.speedup.verdict == "inconclusive")
    return "not decided: " + interval_text(row, value);
  return {};
}

std::string metric_row(const result::Metric& row, const MetricValue& value) {
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}{}</td><td>{}</td></tr>\n", metric_name(row),
                     value.at_least ? "at least " : "", value_text(row, *value.value),
                     escape_html(interval_text(row, value)));
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
std::string metrics_html(const CaseResult& one) {
  std::string out =
      "<h4>Figures</h4><table class=\"measured\"><thead><tr><th>figure</th><th>value</th><th>interval or "
      "reason</th></tr></thead><tbody>\n";
  std::vector<std::pair<std::string, std::vector<std::string>>> missing;  // reason, figures
  for (const auto& row : result::metrics()) {
    if (!concerns(row, one)) continue;
    const MetricValue value = analysis::metric_value(row, one);
    const std::string reason = no_number(row, value, one);
    if (reason.empty()) {
      out += metric_row(row, value);
      continue;
    }
    const auto known =
        std::find_if(missing.begin(), missing.end(), [&](const auto& m) { return m.first == reason; });
    (known == missing.end() ? missing.emplace_back(reason, std::vector<std::string>{}) : *known)
        .second.push_back(escape_html(row.title));
  }
  for (const auto& [reason, figures] : missing)
    out += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"missing\">–</td><td>{}</td></tr>\n",
                       join(figures, ", "), escape_html(reason));
  return out + "</tbody></table>\n";
}

std::string repetition_row(const result::Repetition& r) {
  const std::string p50 = r.p50_ns ? format_ms(*r.p50_ns) : "–";
  const std::string first = r.first_iteration_ns ? format_ms(*r.first_iteration_ns) : "–";
  const std::string foreign = r.foreign_cpu_frac ? format_percent(*r.foreign_cpu_frac) : "–";
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{} ({})</td><td>{}</td></tr>\n",
      r.index + 1, r.n, p50, first, foreign, r.warmup_iterations, escape_html(r.steady_state),
      escape_html(spaced(r.stop_reason)));
}

std::string repetitions_html(const CaseResult& one) {
  if (one.repetitions.empty()) return {};
  std::string out =
      "<h4>Processes</h4><table class=\"processes\"><thead><tr><th>process</th><th>samples</th><th>p50 "
      "ms</th>"
      "<th>first ms</th><th>foreign CPU</th><th>warm-up "
      "iterations</th><th>stopped</th></tr></thead><tbody>\n";
  for (const auto& repetition : one.repetitions) out += repetition_row(repetition);
  return out + "</tbody></table>\n";
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
  return fmt::format("<h4>{}{}</h4>{}", title, rest, rows_html(rows));
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

std::string plots_html(const ReportCase& entry, const RenderOptions& options) {
  const std::string reading = samples_reading(entry, options);
  if (reading.empty()) return {};
  return fmt::format(
      "<figure><div class=\"plots\" data-chart=\"samples\" data-case=\"{}\"></div><figcaption>{} "
      "{}</figcaption></figure>\n",
      case_anchor(entry), escape_html(reading), formula_link("p50_ms"));
}

std::string notes_html(const CaseResult& one) {
  std::string out;
  for (const std::string& warning : one.noise.warnings)
    out += "<p class=\"warning\">" + escape_html(warning) + "</p>\n";
  if (const std::string reason = analysis::no_claim_reason(one); !reason.empty())
    out += "<p>No claim about its speed-up: " + escape_html(reason) + ".</p>\n";
  if (const std::string accuracy = accuracy_text(one); !accuracy.empty())
    out += "<p>" + escape_html(accuracy) + "</p>\n";
  if (const std::string batching = batching_text(one); !batching.empty())
    out += "<p>" + escape_html(batching) + "</p>\n";
  const std::string highest =
      analysis::is_ok(one) && !p99_reason(one).empty() ? highest_quantile_text(one) : "";
  if (!highest.empty()) out += "<p>No p99: " + escape_html(p99_reason(one)) + "; " + highest + ".</p>\n";
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
  std::string inside = notes_html(one) + cross_check_html(one) + plots_html(entry, options) +
                       training_details_html(one) + operators_html(one) +
                       "<div class=\"columns\"><div class=\"scroll\" tabindex=\"0\">" + metrics_html(one) +
                       "</div><div class=\"scroll\" tabindex=\"0\">" + repetitions_html(one) +
                       settings_html(one, shared) + "</div></div>\n" + layers_html(one);
  if (!one.log_tail.empty())
    inside += "<h4>Last lines of its log</h4><pre>" + escape_html(one.log_tail) + "\n</pre>\n";
  return out + (lazily ? "<script type=\"text/html\">" + inside + "</script>" : inside) + "</details>\n";
}

}  // namespace

std::string case_table_html(std::span<const ReportRun> runs) {
  std::string out =
      "<div class=\"scroll\" tabindex=\"0\"><table id=\"case-table\"><thead><tr>" + head_cell("case", "text");
  if (runs.size() > 1) out += head_cell("run", "text");
  const bool kept = shows_kept(runs);
  std::vector<std::string> titles{"p50 ms", "p99 ms", throughput_head(runs.front().result), "vs baseline"};
  if (kept) titles.emplace_back("top-1 kept");
  for (const auto* title : {"memory", "of peak", "foreign CPU"}) titles.emplace_back(title);
  for (const std::string& title : titles) out += head_cell(title, "number");
  out += head_cell("grade", "text") + "</tr></thead><tbody>\n";
  for (const ReportCase& entry : side_by_side(runs)) out += table_row(entry, kept);
  return out + "</tbody></table></div>\n";
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
