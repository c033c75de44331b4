// SPDX-License-Identifier: MIT
#include "report/case_table.h"

#include "analysis/case_query.h"
#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/chart_data.h"
#include "result/metric_table.h"
#include "result/noise_rules.h"

namespace paceline::report {
namespace {

using result::CaseResult;

Cell figure_cell(const CaseResult& one, std::string text, std::string_view metric, double otherwise = 0) {
  if (text.empty()) return classed(kNone, "missing");
  Cell cell(std::move(text));
  cell.sorted_by = result::find_metric(metric)->get(one).value.value_or(otherwise);
  return cell;
}

Cell with_note(Cell cell, std::string_view what, const std::string& reason) {
  if (!reason.empty()) cell.note = std::string(what) + reason;
  return cell;
}

// The letter and its first reasons; on the page the reasons stand behind a summary that a keyboard can open.
Cell grade_cell(const CaseResult& one, Form form) {
  Cell cell(form == Form::kPage ? std::string(1, result::grade_letter(one.grade))
                                : grade_text(one, kReasonsShown));
  cell.brief = result::grade_letter(one.grade);
  cell.css = "reasons";
  cell.badge = "grade grade-" + cell.brief;
  cell.fold = plural(std::ssize(one.grade_reasons), "reason");
  cell.folded = join(one.grade_reasons, ", ");
  return cell;
}

Tone tone_of(const CaseResult& one) {
  if (!analysis::is_ok(one)) return one.outcome == result::Outcome::kFailed ? Tone::kProblem : Tone::kFaint;
  if (one.grade == result::Grade::kA) return Tone::kPlain;
  return one.grade == result::Grade::kB ? Tone::kWarning : Tone::kProblem;
}

Row case_row(const ReportCase& entry, Form form, bool kept) {
  const CaseResult& one = *entry.one;
  Row row{
      .cells = {linked(one.label, case_anchor(entry))}, .instead = outcome_text(one), .tone = tone_of(one)};
  auto& cells = row.cells;
  if (!entry.letter.empty()) cells.emplace_back(entry.letter);
  if (!row.instead.empty()) return row;
  const CaseCells figures = cells_of(entry.run->result, one);
  cells.push_back(figure_cell(one, figures.p50_ms, "p50_ms"));
  cells.push_back(with_note(figure_cell(one, figures.p99_ms, "p99_ms"),
                            "no p99: ", figures.p99_ms.empty() ? p99_reason(one) : ""));
  cells.push_back(figure_cell(one, figures.throughput, "throughput_per_s"));
  cells.push_back(
      with_note(figure_cell(one, figures.no_claim.empty() ? figures.speedup : "no claim", "speedup", 1),
                "no claim: ", figures.no_claim));
  if (kept) cells.push_back(figure_cell(one, figures.kept, "top1_agreement"));
  cells.push_back(figure_cell(one, figures.memory, "memory_mb"));
  if (form == Form::kPage) cells.push_back(figure_cell(one, figures.of_peak, "share_of_peak"));
  cells.push_back(figure_cell(one, figures.foreign, "foreign_cpu_frac"));
  cells.push_back(grade_cell(one, form));
  return row;
}

}  // namespace

Table case_table(std::span<const ReportRun> runs, Form form) {
  const bool several = runs.size() > 1, kept = shows_kept(runs), page = form == Form::kPage;
  Table table{.heads = {"case"}, .labels = 36, .last_stays = true, .row_heads = true, .sortable = true};
  auto& heads = table.heads;
  if (several) heads.emplace_back("run");
  table.numbers_from = heads.size();
  table.columns_kept = heads.size() + 1;  // with the p50
  heads.insert(heads.end(), {"p50 ms", "p99 ms", throughput_head(runs.front().result), "vs baseline"});
  if (kept) heads.emplace_back("top-1 kept");
  heads.emplace_back("memory");
  if (page) heads.emplace_back("of peak");
  heads.emplace_back(form == Form::kTerminal ? "foreign" : "foreign CPU");
  table.numbers_to = heads.size();
  heads.emplace_back("grade");
  for (const ReportCase& entry : side_by_side(runs)) table.rows.push_back(case_row(entry, form, kept));
  return table;
}

}  // namespace paceline::report
