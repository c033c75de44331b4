// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>

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

// p50, p99, throughput, vs baseline, memory, of peak, foreign CPU, grade
constexpr std::size_t kColumnsAfterName = 8;

std::string number_cell(const std::string& text, std::optional<double> sort_value) {
  if (text.empty()) return "<td class=\"number missing\">–</td>";
  return fmt::format("<td class=\"number\" data-value=\"{}\">{}</td>", sort_value.value_or(0),
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

// The letter; its reasons behind a summary, which a keyboard opens too.
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

// Names of the code as words: fixed_iterations.
std::string spaced(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string words_of(const MetricValue& value) {
  return value.reason.empty() ? "not measured" : spaced(value.reason);
}

// Of answers: near 100 %, so two digits would hide what there is to see.
bool is_agreement(std::string_view name) {
  return name.ends_with("_agreement") || name.starts_with("top1_");
}

// Shares of 1 are read as percent; counts and ratios as they are.
bool is_share(std::string_view name) {
  return name.starts_with("share_") || name.ends_with("_share") || name == "train_accuracy" ||
         name == "eval_accuracy" || name.ends_with("_frac") || name.ends_with("_fraction") ||
         name.ends_with("_spread") || is_agreement(name);
}

std::string value_text(const result::Metric& one, double value) {
  if (is_share(one.name)) return format_significant(value * 100, is_agreement(one.name) ? 3 : 2) + " %";
  return fmt::format("{:.4g}{}{}", value, one.unit == "1" ? "" : " ", one.unit == "1" ? "" : one.unit);
}

// A lower bound says so.
std::string interval_text(const result::Metric& row, const MetricValue& value) {
  if (value.at_least) return "a lower bound";
  const double scale = is_share(row.name) ? 100 : 1;
  return value.ci_low && value.ci_high ? analysis::format_range(*value.ci_low * scale, *value.ci_high * scale)
                                       : "";
}

std::string metric_row(const result::Metric& row, const CaseResult& one) {
  const MetricValue value = analysis::metric_value(row, one);
  const std::string name =
      fmt::format("<th scope=\"row\"><a href=\"#formula-{}\">{}</a></th>", row.name, escape_html(row.title));
  const auto cells = [&](std::string_view kind, const std::string& number, const std::string& beside) {
    return fmt::format("<tr>{}<td class=\"{}\">{}</td><td>{}</td></tr>\n", name, kind, number,
                       escape_html(beside));
  };
  if (!value.value) return cells("number missing", "–", words_of(value));
  // A ratio that its interval does not decide is no number, as in every table.
  if (row.name == "speedup" && one.speedup.verdict == "inconclusive")
    return cells("number missing", "–", "not decided: " + interval_text(row, value));
  return cells("number", (value.at_least ? "at least " : "") + value_text(row, *value.value),
               interval_text(row, value));
}

// Headings of docs/metrics.md whose figures training has, and those that only inference has.
constexpr std::array<std::string_view, 5> kOfTraining{"training-throughput", "parts-of-a-step", "stragglers",
                                                      "scaling-efficiency",
                                                      "loss-and-accuracy-while-training"};
constexpr std::array<std::string_view, 4> kOfInference{"accuracy", "agreement", "change-of-accuracy",
                                                       "model-file"};

bool among(std::span<const std::string_view> anchors, std::string_view anchor) {
  return std::find(anchors.begin(), anchors.end(), anchor) != anchors.end();
}

// Rows that say nothing of most cases are shown where they do.
bool concerns(const result::Metric& row, const CaseResult& one) {
  if (row.anchor == "load") return !one.load.empty();
  if (among(kOfTraining, row.anchor)) return is_training(one);
  if (among(kOfInference, row.anchor)) return !is_training(one);
  if (row.anchor == "device-time") return bool(one.device_p50_ns.value);
  return row.anchor != "cross-check" || one.cross_check.asked;
}

std::string metrics_html(const CaseResult& one) {
  std::string out =
      "<h4>Figures</h4><table><thead><tr><th>figure</th><th class=\"number\">value</th><th>interval or "
      "reason</th></tr></thead><tbody>\n";
  for (const auto& row : result::metrics())
    if (concerns(row, one)) out += metric_row(row, one);
  return out + "</tbody></table>\n";
}

std::string repetition_row(const result::Repetition& r) {
  const std::string p50 = r.p50_ns ? format_ms(*r.p50_ns) : "–";
  const std::string first = r.first_iteration_ns ? format_ms(*r.first_iteration_ns) : "–";
  const std::string foreign = r.foreign_cpu_frac ? format_percent(*r.foreign_cpu_frac) : "–";
  return fmt::format(
      "<tr><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td "
      "class=\"number\">{}</td>"
      "<td>{} ({})</td><td>{}</td><td class=\"number\">{}</td></tr>\n",
      r.index + 1, r.n, p50, first, r.warmup_iterations, escape_html(r.steady_state),
      escape_html(spaced(r.stop_reason)), foreign);
}

std::string repetitions_html(const CaseResult& one) {
  if (one.repetitions.empty()) return {};
  std::string out =
      "<h4>Processes</h4><table><thead><tr><th class=\"number\">process</th><th class=\"number\">samples</th>"
      "<th class=\"number\">p50 ms</th><th class=\"number\">first ms</th><th>warm-up "
      "iterations</th><th>stopped</th>"
      "<th class=\"number\">foreign CPU</th></tr></thead><tbody>\n";
  for (const auto& repetition : one.repetitions) out += repetition_row(repetition);
  return out + "</tbody></table>\n";
}

std::string settings_html(const CaseResult& one) {
  std::vector<std::pair<std::string, std::string>> rows(one.effective_settings.begin(),
                                                        one.effective_settings.end());
  std::string out;
  if (!rows.empty()) out += "<h4>Settings as the engine reported them</h4>" + rows_html(rows);
  const auto asked = flat_rows(one.config_effective);
  if (!asked.empty()) out += "<h4>Effective plan of this case</h4>" + rows_html(asked);
  return out;
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

std::string detail_html(const ReportCase& entry, const RenderOptions& options) {
  const CaseResult& one = *entry.one;
  const std::string instead = outcome_text(one);
  const std::string state = instead.empty() ? with_interval(one.headline.p50_ns, 1e-6) + " ms" : instead;
  const std::string run = entry.letter.empty() ? "" : entry.letter + ": ";
  std::string out = fmt::format(
      "<details class=\"case\" id=\"{}\"><summary>{}{} <span class=\"state\">{}</span></summary>\n",
      case_anchor(entry), run, escape_html(one.label), escape_html(state));
  out += notes_html(one) + cross_check_html(one) + plots_html(entry, options) + training_details_html(one) +
         operators_html(one) + "<div class=\"columns\"><div class=\"scroll\" tabindex=\"0\">" +
         metrics_html(one) + "</div><div class=\"scroll\" tabindex=\"0\">" + repetitions_html(one) +
         settings_html(one) + "</div></div>\n" + layers_html(one);
  if (!one.log_tail.empty())
    out += "<h4>Last lines of its log</h4><pre>" + escape_html(one.log_tail) + "\n</pre>\n";
  return out + "</details>\n";
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
  std::string out;
  for (const ReportCase& entry : side_by_side(runs)) out += detail_html(entry, options);
  return out;
}

}  // namespace paceline::report
