// SPDX-License-Identifier: MIT
#include "nsight/kernel_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/archive.h"
#include "base/units.h"
#include "nsight/kernel_findings.h"
#include "nsight/kernels.h"

namespace paceline::nsight {
namespace {

constexpr std::size_t kMostKernels = 10, kNameWidth = 24;

template <class A>
void figure(A& a, const char* name, const std::optional<double>& value) {
  Maybe<double> known(value, "not in the file");
  a(name, known);
}

std::string percent(const std::optional<double>& share) {
  return share ? format_percent(*share, 0) : answer::kNone;
}

}  // namespace

template <class A>
void fields(A& a, KernelFigures& k) {
  a("name", k.name), a("launches", k.launches), a("time_ns", k.time_ns), a("share", k.share);
  figure(a, "compute_share", k.compute), figure(a, "memory_share", k.memory);
  figure(a, "dram_share", k.dram), figure(a, "tensor_share", k.tensor);
  figure(a, "occupancy", k.occupancy), figure(a, "occupancy_limit", k.occupancy_limit);
  a("occupancy_limited_by", k.limited_by);
  figure(a, "l1_hit_rate", k.l1_hits), figure(a, "l2_hit_rate", k.l2_hits);
  figure(a, "bank_conflict_share", k.bank_conflicts);
  figure(a, "flops_per_s", k.flops_per_s), figure(a, "dram_bytes_per_s", k.bytes_per_s);
  figure(a, "registers_per_thread", k.registers), figure(a, "waves_per_multiprocessor", k.waves);
  a("stall", k.stall), figure(a, "stall_share", k.stall_share);
}

nlohmann::json kernels_json(const std::vector<KernelFigures>& kernels) {
  return archive::Writer::write(kernels);
}

answer::Section kernel_section(std::span<const KernelFigures> kernels, KernelColumns shown) {
  const bool all = shown == KernelColumns::kAll;
  answer::Table table{.heads = {"kernel", "time", "calls", "one call"}, .labels = kNameWidth};
  if (!all) table.heads.emplace_back("together");
  if (all) {
    table.heads.insert(table.heads.end(), {"compute", "memory", "tensor", "occupancy", "waits for"});
    table.numbers_to = table.heads.size() - 1;
  }
  for (const auto& k : kernels.first(std::min(kMostKernels, kernels.size()))) {
    table.add(short_name(k.name), percent(k.share), std::to_string(k.launches),
              format_duration_ns(k.time_ns / static_cast<double>(k.launches)));
    auto& cells = table.rows.back().cells;
    if (!all) cells.emplace_back(format_duration_ns(k.time_ns));
    if (all)
      for (auto text :
           {percent(k.compute), percent(k.memory), percent(k.tensor), percent(k.occupancy), k.stall})
        cells.emplace_back(std::move(text));
  }
  answer::Section section{.title = "Kernels", .table = std::move(table)};
  if (kernels.size() > kMostKernels)
    section.notes.push_back(
        fmt::format("and {} more kernels (--json has all)", kernels.size() - kMostKernels));
  return section;
}

std::string sentence_of(std::span<const answer::Finding> findings) {
  return findings.empty() ? "no finding: these figures name no cause" : findings.front().text;
}

answer::Answer answer_of(const KernelStudy& study) {
  answer::Answer answer{.title = "Kernels of " + std::filesystem::path(study.source).filename().string(),
                        .sentence = sentence_of(study.findings),
                        .findings = study.findings,
                        .sections = {kernel_section(study.kernels, KernelColumns::kAll)},
                        .remarks = study.remarks};
  answer.data = {{"source", study.source}, {"kernels", kernels_json(study.kernels)}};
  return answer;
}

}  // namespace paceline::nsight
