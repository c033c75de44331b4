// SPDX-License-Identifier: MIT
#include "report/traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/archive.h"
#include "base/units.h"
#include "report/attached.h"
#include "report/bottlenecks.h"
#include "report/case_cells.h"
#include "result/stored/case_fields.h"

namespace paceline::analysis::traces {
PACELINE_FIELDS(RankRow, rank, file, host, step_ns, data_wait_ns, forward_ns, backward_ns, optimizer_ns,
                communication_ns, exposed_ns, rest_ns, overlap_ratio, idle_share, input_elements, batch,
                last_share);
}

// How a study of traces looks on the terminal and in a file.
namespace paceline::report {
namespace {

using analysis::traces::TraceStudy;
using Json = nlohmann::json;
using result::OwnPart;

constexpr std::size_t kShownOperators = 8, kShownKernels = 5, kNameWidth = 48;

std::string heading(const TraceStudy& s) {
  return fmt::format("{} of {} of {}{}, steps {} to {} ({} in the figures)",
                     s.attached ? "step files" : "traces", s.ranks.size(),
                     s.world ? plural(*s.world, "rank") : "an unknown number of ranks",
                     s.recordings > 1 ? fmt::format(" in {} recordings", s.recordings) : "", s.first_step,
                     s.last_step, s.steps);
}

Table rank_table(const TraceStudy& s) {
  Table table{.heads = {"rank", "step ms", "data wait", "forward", "backward", "exposed", "optimizer", "rest",
                        "comm.", "came last"}};
  for (std::size_t i = 0; i < s.ranks.size(); ++i) {
    const auto& r = s.ranks[i];
    const bool typical = i == s.typical && s.ranks.size() > 1;
    table.add(answer::Cell(fmt::format("{}{}", r.rank, typical ? " (typical)" : ""), "whole"),
              or_none(r.step_ns, format_ms), or_none(r.data_wait_ns, format_ms),
              or_none(r.forward_ns, format_ms), or_none(r.backward_ns, format_ms),
              or_none(r.exposed_ns, format_ms), or_none(r.optimizer_ns, format_ms),
              or_none(r.rest_ns, format_ms), or_none(r.communication_ns, format_ms),
              or_none(r.last_share, [](double share) { return format_percent(share, 0); }));
  }
  return table;
}

std::string rank_reading(const TraceStudy& s) {
  return std::string(
             s.attached ? "mean per steady step; rest: what no scope of the step covers. "
             : s.operators_on_device
                 ? "times of the device, mean per step; rest: it copies or idles while the host works. "
                 : "mean per step; rest: the host between operators. ") +
         "The columns from data wait to rest add up to the step; exposed includes waiting for other ranks";
}

// Below their operator; the times of the host are the operator's.
void add_kernels(Table& table, const analysis::traces::OperatorRow& op) {
  const auto add = [&](const std::string& name, double calls, double device_ns, double share) {
    table.add("  " + name, format_count(calls), format_ms(device_ns), kNone, format_percent(share));
  };
  const auto shown = std::min(kShownKernels, op.kernels.size());
  for (std::size_t i = 0; i < shown; ++i)
    add(op.kernels[i].name, op.kernels[i].calls, op.kernels[i].device_ns, op.kernels[i].share);
  analysis::traces::KernelRow rest;
  for (std::size_t i = shown; i < op.kernels.size(); ++i)
    rest.calls += op.kernels[i].calls, rest.device_ns += op.kernels[i].device_ns,
        rest.share += op.kernels[i].share;
  if (shown < op.kernels.size())
    add(fmt::format("({})", plural(std::ssize(op.kernels) - static_cast<std::int64_t>(shown), "other")),
        rest.calls, rest.device_ns, rest.share);
}

// Per step, and where there are several ranks the mean over them, as the heading says.
Table operator_rows(const TraceStudy& s, bool kernels) {
  Table table{.heads = {s.ranks.size() > 1 ? fmt::format("operator (mean of {} ranks)", s.ranks.size())
                                           : fmt::format("operator (rank {})", s.ranks.front().rank),
                        "calls per step"},
              .most = {kNameWidth}};
  if (s.operators_on_device) table.heads.emplace_back("device ms");
  table.heads.insert(table.heads.end(), {"host self ms", "share"});
  for (std::size_t i = 0; i < std::min(kShownOperators, s.operators.size()); ++i) {
    const auto& op = s.operators[i];
    table.add(op.name, format_count(op.calls));
    auto& cells = table.rows.back().cells;
    if (s.operators_on_device) cells.emplace_back(format_ms(op.device_ns));
    cells.emplace_back(format_ms(op.host_ns));
    cells.emplace_back(format_percent(op.share));
    if (kernels && s.operators_on_device) add_kernels(table, op);
  }
  return table;
}

// null with a reason where it is missing.
void put(Json& out, const std::string& name, const Number& number) {
  out[name] = number ? Json(*number) : Json(nullptr);
  if (!number) out[name + "_reason"] = number.reason();
}

void put(Json& out, const std::string& name, const result::Estimate& e) {
  put(out, name, e.value);
  if (e.ci_low && e.ci_high) out[name + "_ci"] = {*e.ci_low, *e.ci_high};
}

template <typename Rows, typename Of>
Json list_of(const Rows& rows, Of of) {
  Json all = Json::array();
  for (const auto& row : rows) all.push_back(of(row));
  return all;
}

Json costs_json(const result::StepCosts& c) {
  Json out = Json::object();
  for (const auto& [name, e] : {std::pair{"step_ns", &c.step_ns},
                                {"straggler_wait_ns", &c.straggler_wait_ns},
                                {"communication_ns", &c.communication_ns}})
    put(out, name, *e);
  for (const auto part : result::kOwnParts)
    if (part != OwnPart::kInput) put(out, traits_of(part).ns_name, c.own_ns[part]);  // no trace shows it
  return out;
}

Json data_of(const TraceStudy& s, bool kernels) {
  const auto& t = *s.job.training();
  const auto shape = analysis::shape_of(s.job);
  Json out{{"first_step", s.first_step},
           {"last_step", s.last_step},
           {"steps", s.steps},
           {"recordings", s.recordings}};
  out["typical_rank"] = s.ranks[s.typical].rank;
  for (const auto& [name, number] : {std::pair{"step_ns", &shape.step_ns},
                                     {"sync_stall_share", &shape.stall_share},
                                     {"straggler_wait_share", &shape.straggler_wait_share},
                                     {"communication_share", &shape.communication_share},
                                     {"data_wait_share", &shape.input_wait_share},
                                     {"overlap_ratio", &shape.overlap_ratio},
                                     {"host_bound_share", &shape.host_share}})
    put(out, name, *number);
  put(out, "world",
      s.world ? Number(static_cast<double>(*s.world)) : Number::missing("the trace does not say"));
  out["costs"] = costs_json(s.costs);
  out["ranks"] = archive::Writer::write(s.ranks);
  out["late"] = archive::Writer::write(t.late);
  out["suspected"] = archive::Writer::write(t.suspected);
  out["operators_on_device"] = s.operators_on_device;
  out["operators"] = list_of(s.operators, [&](const auto& op) {
    Json row{{"name", op.name},
             {"calls_per_step", op.calls},
             {"host_self_ns_per_step", op.host_ns},
             {"device_ns_per_step", op.device_ns},
             {"share", op.share}};
    if (kernels)
      row["kernels"] = list_of(op.kernels, [](const auto& kernel) {
        return Json{{"name", kernel.name},
                    {"calls_per_step", kernel.calls},
                    {"device_ns_per_step", kernel.device_ns},
                    {"share", kernel.share}};
      });
    return row;
  });
  out["bottlenecks"] = list_of(s.bottlenecks, [&](const auto& b) {
    Json row{{"title", without_label(b.finding.text, s.job)},
             {"evidence", b.finding.evidence},
             {"advice", b.finding.advice}};
    put(row, "cost_ns", b.cost_ns.value);
    put(row, "share", b.share);
    return row;
  });
  out["exchanges"] = list_of(s.exchanges, [](const auto& one) {
    return Json{{"kind", analysis::traces::word_of(one.kind)},
                {"calls_per_step", one.calls},
                {"length_ns_per_step", one.length_ns},
                {"exposed_ns_per_step", one.exposed_ns}};
  });
  if (s.attached) out["attached"] = attached_json(*s.attached);
  out["left_out"] = s.left_out;
  out["untold"] = s.untold;
  return out;
}

std::vector<answer::Finding> findings_of_study(const TraceStudy& study) {
  std::vector<answer::Finding> findings;
  for (const auto& b : study.bottlenecks) {
    auto& finding = findings.emplace_back(b.finding);
    finding.text = without_label(b.finding.text, study.job);
    finding.cost = cost_words(b);
  }
  return findings;
}

}  // namespace

answer::Answer answer_of(const TraceStudy& study, bool kernels) {
  const char* const sources = study.attached ? "Attached job" : "Traces";
  const char* const source = study.attached ? "seen" : "in the traces";
  answer::Answer answer{.title = fmt::format("{} of {}", sources, plural(std::ssize(study.ranks), "rank")),
                        .sentence = shape_text(study.job),
                        .findings = findings_of_study(study),
                        .sections = {{.title = "Ranks",
                                      .table = rank_table(study),
                                      .paragraphs = {heading(study)},
                                      .notes = {rank_reading(study)}}},
                        .data = data_of(study, kernels)};
  if (!study.operators.empty())
    answer.sections.push_back({.title = "Operators", .table = operator_rows(study, kernels)});
  if (study.attached) add_attached(study, answer);
  for (const auto& what : study.left_out) answer.remarks.push_back("left out: " + what);
  if (kernels && !study.operators_on_device)
    answer.remarks.push_back(fmt::format("not {}: kernels, because there are no events of a device", source));
  for (const auto& what : study.untold) answer.remarks.push_back(fmt::format("not {}: {}", source, what));
  if (answer.findings.empty()) answer.sentence += " No bottleneck was found.";
  return answer;
}

}  // namespace paceline::report
