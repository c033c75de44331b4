// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/traces/trace_study.h"
#include "base/units.h"

// How a study of traces looks on the terminal and in a file.
namespace paceline::analysis::traces {
namespace {

using result::Number;
using Json = nlohmann::json;

constexpr std::size_t kShownOperators = 8, kNameWidth = 48;

std::string share_text(const Number& share) {
  return share ? format_percent(*share) : "not known";
}

std::string ms_text(const Number& ns) {
  return ns ? format_ms(*ns) : "–";
}

// format pads by bytes: a dash takes three of them.
std::string right(const std::string& text, std::size_t width) {
  std::size_t letters = 0;
  for (const char c : text) letters += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return std::string(width > letters ? width - letters : 0, ' ') + text;
}

// "  ±0.4 ms", from the interval of the mean; empty without one.
std::string margin_of(const result::Estimate& e) {
  if (!e.ci_low || !e.ci_high) return "";
  return fmt::format(" ±{}", format_ms((*e.ci_high - *e.ci_low) / 2));
}

std::string heading(const TraceStudy& s) {
  std::string text = fmt::format("traces of {} of {}, steps {} to {} ({} in the figures)\n", s.ranks.size(),
                                 s.world ? plural(*s.world, "rank") : "an unknown number of ranks",
                                 s.first_step, s.last_step, s.steps);
  if (!s.step_ns) return text + fmt::format("no figures of a mean step: {}\n", s.step_ns.reason());
  const std::string step = format_ms(*s.step_ns) + margin_of(s.costs.step_ns) + " ms";
  if (s.sync_stall_share && s.straggler_wait_share)
    text +=
        fmt::format("sync stalls {} of step time ({} ms of {}): straggler wait {}, communication itself {}\n",
                    share_text(s.sync_stall_share), format_ms(*s.sync_stall_share * *s.step_ns), step,
                    share_text(s.straggler_wait_share), share_text(s.communication_share));
  else
    text += fmt::format("exposed communication {} of step time ({}), waiting for other ranks included\n",
                        share_text(s.communication_share), step);
  return text + fmt::format("overlap ratio {} · input wait {} · host-bound {}\n", share_text(s.overlap_ratio),
                            share_text(s.data_wait_share), share_text(s.host_bound_share));
}

std::string rank_rows(const TraceStudy& s) {
  constexpr std::array kColumns{"rank",    "step ms",   "data wait", "forward", "backward",
                                "exposed", "optimizer", "rest",      "comm.",   "came last"};
  std::string text;
  const auto add_row = [&](const auto& cells) {
    for (const auto& cell : cells) text += right(cell, 10);
    text += '\n';
  };
  add_row(kColumns);
  for (const auto& r : s.ranks)
    add_row(std::array<std::string, kColumns.size()>{
        std::to_string(r.rank), ms_text(r.step_ns), ms_text(r.data_wait_ns), ms_text(r.forward_ns),
        ms_text(r.backward_ns), ms_text(r.exposed_ns), ms_text(r.optimizer_ns), ms_text(r.rest_ns),
        ms_text(r.communication_ns), r.last_share ? format_percent(*r.last_share, 0) : "–"});
  return text +
         (s.operators_on_device
              ? "times of the device, mean per step; rest: it copies or idles while the host works. "
              : "mean per step; rest: the host between operators. ") +
         "The columns from data wait to rest add up to the step; exposed includes waiting for other ranks\n";
}

// Per step, and where there are several ranks the mean over them, as the heading says.
std::string operator_rows(const TraceStudy& s) {
  const std::string of = s.ranks.size() > 1 ? fmt::format("operator (mean of {} ranks)", s.ranks.size())
                                            : fmt::format("operator (rank {})", s.ranks.front().rank);
  std::string text =
      fmt::format("{:<{}}{:>14}{}{:>14}{:>9}\n", of, kNameWidth, "calls per step",
                  s.operators_on_device ? fmt::format("{:>11}", "device ms") : "", "host self ms", "share");
  for (std::size_t i = 0; i < std::min(kShownOperators, s.operators.size()); ++i) {
    const auto& op = s.operators[i];
    const std::string name =
        op.name.size() < kNameWidth ? op.name : op.name.substr(0, kNameWidth - 4) + "...";
    text += fmt::format("{:<{}}{:>14}{}{:>14}{:>9}\n", name, kNameWidth, format_count(op.calls),
                        s.operators_on_device ? fmt::format("{:>11}", format_ms(op.device_ns)) : "",
                        format_ms(op.host_ns), format_percent(op.share));
  }
  return text;
}

std::string bottleneck_rows(const TraceStudy& s) {
  if (s.bottlenecks.empty()) return "no bottleneck stands out\n";
  std::string text;
  for (std::size_t i = 0; i < s.bottlenecks.size(); ++i) {
    const auto& b = s.bottlenecks[i];
    text += fmt::format("{}  {}: {} ms a step, {}\n   evidence: {}\n   try: {}\n", i + 1, b.title,
                        format_ms(b.cost_ns), format_percent(b.share), b.evidence, b.advice);
  }
  return text;
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
                                {"data_wait_ns", &c.data_wait_ns},
                                {"forward_ns", &c.forward_ns},
                                {"backward_ns", &c.backward_ns},
                                {"optimizer_ns", &c.optimizer_ns},
                                {"host_ns", &c.host_ns},
                                {"pause_ns", &c.pause_ns},
                                {"straggler_wait_ns", &c.straggler_wait_ns},
                                {"communication_ns", &c.communication_ns}})
    put(out, name, *e);
  return out;
}

Json rank_json(const RankRow& r) {
  Json out{{"rank", r.rank}, {"file", r.file}, {"host", r.host}};
  for (const auto& [name, number] : {std::pair{"step_ns", &r.step_ns},
                                     {"data_wait_ns", &r.data_wait_ns},
                                     {"forward_ns", &r.forward_ns},
                                     {"backward_ns", &r.backward_ns},
                                     {"optimizer_ns", &r.optimizer_ns},
                                     {"communication_ns", &r.communication_ns},
                                     {"exposed_ns", &r.exposed_ns},
                                     {"rest_ns", &r.rest_ns},
                                     {"overlap_ratio", &r.overlap_ratio},
                                     {"idle_share", &r.idle_share},
                                     {"input_elements", &r.input_elements},
                                     {"batch", &r.batch},
                                     {"last_share", &r.last_share}})
    put(out, name, *number);
  return out;
}

Json late_json(const result::LateRank& late) {
  Json out{{"rank", late.rank},
           {"late_in", late.late_in},
           {"certain", late.certain},
           {"first_step", late.first_step},
           {"since_step", late.since_step},
           {"until_step", late.until_step},
           {"every", late.every},
           {"exchanges", late.exchanges},
           {"late_exchanges", late.late_exchanges}};
  for (const auto& [name, number] : {std::pair{"last_share", &late.last_share},
                                     {"waiting_share", &late.waiting_share},
                                     {"chance", &late.chance},
                                     {"late_ns", &late.late_ns},
                                     {"cost_ns", &late.cost_ns}})
    put(out, name, *number);
  return out;
}

}  // namespace

std::string text_of(const TraceStudy& study) {
  std::string text =
      heading(study) + "\n" + rank_rows(study) + "\n" + operator_rows(study) + "\n" + bottleneck_rows(study);
  for (const auto& what : study.left_out) text += "left out: " + what + "\n";
  for (const auto& what : study.untold) text += "not in the traces: " + what + "\n";
  return text;
}

Json to_json(const TraceStudy& s) {
  Json out{{"first_step", s.first_step}, {"last_step", s.last_step}, {"steps", s.steps}};
  for (const auto& [name, number] : {std::pair{"step_ns", &s.step_ns},
                                     {"sync_stall_share", &s.sync_stall_share},
                                     {"straggler_wait_share", &s.straggler_wait_share},
                                     {"communication_share", &s.communication_share},
                                     {"data_wait_share", &s.data_wait_share},
                                     {"overlap_ratio", &s.overlap_ratio},
                                     {"host_bound_share", &s.host_bound_share}})
    put(out, name, *number);
  put(out, "world",
      s.world ? Number(static_cast<double>(*s.world)) : Number::missing("the trace does not say"));
  out["costs"] = costs_json(s.costs);
  out["ranks"] = list_of(s.ranks, rank_json);
  out["late"] = list_of(s.late, late_json);
  out["suspected"] = list_of(s.suspected, late_json);
  out["operators_on_device"] = s.operators_on_device;
  out["operators"] = list_of(s.operators, [](const OperatorRow& op) {
    return Json{{"name", op.name},
                {"calls_per_step", op.calls},
                {"host_self_ns_per_step", op.host_ns},
                {"device_ns_per_step", op.device_ns},
                {"share", op.share}};
  });
  out["bottlenecks"] = list_of(s.bottlenecks, [](const Bottleneck& b) {
    return Json{{"title", b.title},
                {"evidence", b.evidence},
                {"advice", b.advice},
                {"cost_ns", b.cost_ns},
                {"share", b.share}};
  });
  out["left_out"] = s.left_out;
  out["untold"] = s.untold;
  return out;
}

}  // namespace paceline::analysis::traces
