// SPDX-License-Identifier: MIT
// Makes the table of cases.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/case_query.h"
#include "base/text.h"
#include "base/units.h"
#include "report/answer_parts.h"
#include "report/case_cells.h"
#include "report/html_parts.h"
#include "result/figures/peak_memory.h"
#include "result/judged/noise_rules.h"
#include "result/judged/reference.h"
#include "result/metric_table.h"

namespace paceline::report {
namespace {

bool judged_by_answers(const CaseResult& one) {
  return analysis::is_ok(one) && one.correctness.judged_by == "answers" && one.correctness.top1_agreement;
}

// "1.13 ±0.03", "1.00 (base)". A ratio that its interval does not decide is shown as that interval:
// "0.96–1.12".
std::string speedup_text(const result::RunResult& run, const CaseResult& one) {
  const auto& [value, low, high, confidence, method] = one.speedup.ratio;
  const auto& baseline = one.speedup.baseline_case_id;
  if (analysis::is_baseline(run, one) && (baseline.empty() || baseline == one.case_id)) return "1.00 (base)";
  if (!analysis::no_claim_reason(one).empty()) return "no claim";
  if (baseline.empty()) return kNone;
  if (!one.speedup.no_size.empty()) return std::string(one.speedup.verdict.words());
  if (one.speedup.verdict == result::Speed::kInconclusive)
    return fmt::format("{}–{}", format_fixed(*low, 2), format_fixed(*high, 2));
  return around(format_fixed(*value, 2), *value, *low, *high);
}

// "B  reason, reason, and 3 more"; on the page the reasons stand behind a summary that a keyboard can open.
Cell grade_cell(const CaseResult& one, Form form) {
  constexpr std::size_t kShown = 2;
  const std::string letter(1, result::grade_letter(one.grade));
  const std::span<const std::string> reasons = one.grade_reasons;
  std::string words = join(reasons.first(std::min(kShown, reasons.size())), ", ");
  if (reasons.size() > kShown) words += fmt::format(", and {} more", reasons.size() - kShown);
  Cell cell(form == Form::kPage || reasons.empty() ? letter : letter + "  " + words);
  cell.brief = letter;
  cell.css = "reasons";
  cell.badge = "grade grade-" + letter;
  cell.fold = plural(std::ssize(reasons), "reason");
  cell.folded = join(reasons, ", ");
  return cell;
}

Tone tone_of(const CaseResult& one) {
  if (!analysis::is_ok(one)) return one.outcome == result::Outcome::kFailed ? Tone::kProblem : Tone::kFaint;
  if (one.grade == result::Grade::kA) return Tone::kPlain;
  return one.grade == result::Grade::kB ? Tone::kWarning : Tone::kProblem;
}

Cell figure_cell(const CaseResult& one, std::string_view metric, std::string text) {
  if (text.empty() || text == kNone) return Cell(kNone, "missing");
  Cell cell(std::move(text));
  cell.sorted_by = result::find_metric(metric)->get(one).value.value_or(1);  // of a baseline
  return cell;
}

// Which columns a table has, and what they show.
struct Columns {
  Form form;
  bool kept;          // top-1 agreement
  bool remarks;       // cases whose outputs are not known to be right
  bool mixed_items;   // cases count different things, so each rate has its own unit
  bool mixed_places;  // cases ran on CPU and GPU, so each memory says which it is
  bool host_memory;   // beside that of a GPU
  bool built;         // a file was built for an engine, which may take minutes
  bool gpu_busy;      // a sampler read how busy GPUs were
};

std::string rate_text(const CaseResult& one, bool with_unit) {
  const auto text = or_none(one.throughput.per_s.value, format_rate);
  return with_unit && one.throughput.per_s.value ? fmt::format("{} {}/s", text, one.throughput.item) : text;
}

std::string bytes_text(const Count& bytes) {
  return bytes ? format_bytes(static_cast<double>(*bytes)) : std::string();
}

// "490 MB", where there is room with what the allocator keeps: "490 MB (738 MB reserved)".
std::string memory_text(const CaseResult& one, const Columns& columns) {
  auto text = bytes_text(result::peak_memory(one));
  if (text.empty() || !result::on_device(one.benchmark)) return text;
  if (columns.mixed_places) text += " GPU";
  const auto reserved = bytes_text(one.memory.reserved_peak_bytes);
  return columns.form == Form::kTerminal || reserved.empty()
             ? text
             : fmt::format("{} ({} reserved)", text, reserved);
}

// Smallest utilisation of the GPUs of a case that ran on one; empty: no sampler read it.
std::string busy_text(const CaseResult& one) {
  if (!result::on_device(one.benchmark)) return {};
  const auto busy = result::find_metric("gpu_utilization")->get(one).value;
  return busy ? format_percent(*busy, 0) : "";
}

// ", 64 of 600" where more inputs were given than compared.
std::string compared_part(const CaseResult& one) {
  const auto& c = one.correctness;
  if (!c.checked || !c.samples_given || c.samples >= *c.samples_given) return {};
  return fmt::format(", {} of {}", c.samples, *c.samples_given);
}

std::vector<Cell> figure_cells(const ReportCase& entry, const Columns& columns) {
  const CaseResult& one = *entry.one;
  std::vector<Cell> cells;
  const auto add = [&](std::string_view metric, std::string text, std::string_view what = "",
                       const std::string& reason = "") {
    cells.push_back(figure_cell(one, metric, std::move(text)));
    if (!reason.empty()) cells.back().note = fmt::format("{}: {}", what, reason);
  };
  const auto p99 = result::find_metric("p99_ms")->get(one).value;
  const auto& share = one.flops.share_of_measured_peak;
  add("p50_ms", is_offline(one) ? "" : with_interval(one.headline.p50_ns, 1e-6), "no p50", p50_reason(one));
  if (one.back_to_back_ns.value) cells.back().brief = format_significant(*one.back_to_back_ns.value * 1e-6);
  add("p99_ms", p99 && !is_offline(one) ? format_significant(*p99) : "", "no p99", p99_reason(one));
  add("throughput_per_s", rate_text(one, columns.mixed_items));
  const auto no_claim = analysis::no_claim_reason(one);
  add("speedup", speedup_text(entry.run->result, one), no_claim.empty() ? "no size" : "no claim",
      no_claim.empty() ? one.speedup.no_size : no_claim);
  if (columns.kept)
    add("top1_agreement", judged_by_answers(one) ? percent_or_none(one.correctness.top1_agreement) : "");
  if (columns.remarks) {
    const auto remark = result::check_remark(one);
    const auto part = compared_part(one);
    cells.emplace_back((remark ? remark.word() : "right") + part, remark ? "problem" : "");
    cells.back().brief = remark.word() + part;
    cells.back().note = remark.why;
  }
  if (columns.built) add("prepare_ms", or_none(one.model_file.prepare_ns, format_duration_ns));
  add("memory_mb", memory_text(one, columns));
  if (columns.host_memory) add("host_memory_mb", bytes_text(one.memory.rss_peak_above_load_bytes));
  if (columns.gpu_busy) add("gpu_utilization", busy_text(one));
  if (columns.form == Form::kPage) add("share_of_peak", share ? format_percent(*share, 0) : "");
  add("foreign_cpu_frac", percent_or_none(one.noise.foreign_cpu_frac));
  cells.push_back(grade_cell(one, columns.form));
  return cells;
}

Row case_row(const ReportCase& entry, const Columns& columns) {
  Row row{.cells = {linked(entry.one->label, case_anchor(entry))},
          .instead = outcome_text(*entry.one),
          .tone = tone_of(*entry.one)};
  if (!entry.letter.empty()) row.cells.emplace_back(entry.letter);
  if (!row.instead.empty()) return row;
  const auto figures = figure_cells(entry, columns);
  row.cells.insert(row.cells.end(), figures.begin(), figures.end());
  return row;
}

// Files that are written for several engines have no suffix as their format.
bool was_built(const CaseResult& one) {
  return one.model_file.prepare_ns && one.model_file.format.starts_with('.');
}

// Collects the counted items of measured cases: images, GB, …
std::set<std::string> counted_items(const std::vector<ReportCase>& cases) {
  std::set<std::string> items;
  for (const ReportCase& entry : cases)
    if (analysis::is_ok(*entry.one) && !entry.one->throughput.item.empty())
      items.insert(entry.one->throughput.item);
  return items;
}

}  // namespace

Table case_table(std::span<const ReportRun> runs, Form form) {
  const auto cases = side_by_side(runs);
  const bool kept = std::ranges::any_of(cases, [](const auto& e) { return judged_by_answers(*e.one); });
  const bool remarks = std::ranges::any_of(
      cases, [](const auto& e) { return result::check_remark(*e.one) || !compared_part(*e.one).empty(); });
  const bool mixed = counted_items(cases).size() > 1;
  const auto on_gpu =
      std::ranges::count_if(cases, [](const auto& e) { return result::on_device(e.one->benchmark); });
  const bool built = std::ranges::any_of(cases, [](const auto& e) { return was_built(*e.one); });
  const bool mixed_places = on_gpu > 0 && on_gpu < std::ssize(cases);
  Table table{.heads = {"case"}, .labels = 36, .last_stays = true, .row_heads = true, .sortable = true};
  auto& heads = table.heads;
  if (runs.size() > 1) heads.emplace_back("run");
  table.numbers_from = heads.size();
  table.columns_kept = heads.size() + 1;  // with the p50
  heads.insert(heads.end(),
               {"p50 ms", "p99 ms", mixed ? "throughput" : throughput_head(cases), "vs baseline"});
  if (kept) heads.emplace_back("top-1 kept");
  if (remarks) {
    table.stays = heads.size();
    heads.emplace_back("outputs");
  }
  if (built) heads.emplace_back("built in");
  heads.emplace_back(on_gpu > 0 && !mixed_places ? "GPU memory" : "memory");
  if (on_gpu > 0) heads.emplace_back("host memory");
  const bool gpu_busy = std::ranges::any_of(cases, [](const auto& e) { return !busy_text(*e.one).empty(); });
  if (gpu_busy) heads.emplace_back("GPU busy");
  if (form == Form::kPage) heads.emplace_back("of peak");
  heads.emplace_back(form == Form::kTerminal ? "foreign" : "foreign CPU");
  table.numbers_to = heads.size();
  heads.emplace_back("grade");
  for (const ReportCase& entry : cases)
    table.rows.push_back(
        case_row(entry, {form, kept, remarks, mixed, mixed_places, on_gpu > 0, built, gpu_busy}));
  share_labels(table);
  return table;
}

std::string throughput_head(const std::vector<ReportCase>& cases) {
  const auto items = counted_items(cases);
  return (items.size() == 1 ? *items.begin() : "items") + "/s";
}

}  // namespace paceline::report
