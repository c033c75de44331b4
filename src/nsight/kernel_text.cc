// SPDX-License-Identifier: MIT
// A study of kernels as text and JSON.
#include "nsight/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/display_text.h"
#include "base/units.h"
#include "nsight/kernel_findings.h"
#include "nsight/kernels.h"

namespace paceline::nsight {
namespace {

using Json = nlohmann::json;
constexpr std::size_t kMostRows = 10;

std::string percent(const std::optional<double>& share) {
  return share ? format_percent(*share, 0) : "–";
}

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json kernel_json(const KernelFigures& k) {
  return {{"name", k.name},
          {"launches", k.launches},
          {"time_ns", k.time_ns},
          {"share", k.share},
          {"compute_share", or_null(k.compute)},
          {"memory_share", or_null(k.memory)},
          {"dram_share", or_null(k.dram)},
          {"tensor_share", or_null(k.tensor)},
          {"occupancy", or_null(k.occupancy)},
          {"occupancy_limit", or_null(k.occupancy_limit)},
          {"occupancy_limited_by", k.limited_by},
          {"l1_hit_rate", or_null(k.l1_hits)},
          {"l2_hit_rate", or_null(k.l2_hits)},
          {"bank_conflict_share", or_null(k.bank_conflicts)},
          {"flops_per_s", or_null(k.flops_per_s)},
          {"dram_bytes_per_s", or_null(k.bytes_per_s)},
          {"registers_per_thread", or_null(k.registers)},
          {"waves_per_multiprocessor", or_null(k.waves)},
          {"stall", k.stall},
          {"stall_share", or_null(k.stall_share)}};
}

// The last characters of a name that is too long say less than the first.
std::string name_cell(const KernelFigures& k, std::size_t width) {
  const auto name = on_one_line(short_name(k.name));
  return name.size() <= width ? name + std::string(width - name.size(), ' ')
                              : name.substr(0, width - 1) + "…";
}

std::string times_of(const KernelFigures& k) {
  return fmt::format(" {:>6} {:>7} {:>10} {:>10}", percent(k.share), k.launches,
                     format_duration_ns(k.time_ns),
                     format_duration_ns(k.time_ns / static_cast<double>(k.launches)));
}

std::string limits_of(const KernelFigures& k) {
  return fmt::format(" {:>7} {:>7} {:>7} {:>9}  {}", percent(k.compute), percent(k.memory), percent(k.tensor),
                     percent(k.occupancy), k.stall);
}

}  // namespace

std::string kernel_table(std::span<const KernelFigures> kernels, std::size_t columns, KernelColumns shown) {
  const bool all = shown == KernelColumns::kAll;
  constexpr std::size_t kTimesWidth = 37, kLimitsWidth = 53, kLeast = 24, kMost = 60;
  const std::size_t figures = kTimesWidth + (all ? kLimitsWidth : 0);
  const auto width = std::clamp(columns > figures ? columns - figures : 0, kLeast, kMost);
  std::string text = fmt::format("{:<{}} {:>6} {:>7} {:>10} {:>10}", "kernel", width, "time", "calls",
                                 "together", "one call");
  if (all)
    text +=
        fmt::format(" {:>7} {:>7} {:>7} {:>9}  {}", "compute", "memory", "tensor", "occupancy", "waits for");
  text += "\n";
  for (const auto& k : kernels.first(std::min(kMostRows, kernels.size())))
    text += name_cell(k, width) + times_of(k) + (all ? limits_of(k) : "") + "\n";
  if (kernels.size() > kMostRows)
    text += fmt::format("… and {} more kernels (--json has all)\n", kernels.size() - kMostRows);
  return text;
}

std::string findings_text(std::span<const KernelFinding> findings, std::span<const std::string> remarks) {
  std::string text = findings.empty() ? "\nno finding: these figures name no cause\n" : "\nfindings\n";
  int number = 1;
  for (const auto& f : findings)
    text += fmt::format("  {}  {}\n     evidence: {}\n     try: {}\n", number++, on_one_line(f.text),
                        f.evidence, f.advice);
  for (const auto& remark : remarks) text += "! " + remark + "\n";
  return text;
}

Json json_of(std::span<const KernelFinding> findings) {
  Json all = Json::array();
  for (const auto& f : findings)
    all.push_back({{"text", f.text}, {"evidence", f.evidence}, {"advice", f.advice}});
  return all;
}

Json to_json(const KernelStudy& study) {
  Json kernels = Json::array();
  for (const auto& kernel : study.kernels) kernels.push_back(kernel_json(kernel));
  return {{"source", study.source},
          {"kernels", std::move(kernels)},
          {"findings", json_of(study.findings)},
          {"remarks", study.remarks}};
}

std::string text_of(const KernelStudy& study, std::size_t columns) {
  return kernel_table(study.kernels, columns, KernelColumns::kAll) +
         findings_text(study.findings, study.remarks);
}

}  // namespace paceline::nsight
