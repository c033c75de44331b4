// SPDX-License-Identifier: MIT
// Shows what an inference on a device is made of: starting it, its copies, its model.
#include <array>

#include "base/units.h"
#include "report/case_cells.h"
#include "report/subjects.h"
#include "result/figures/device_figures.h"

namespace paceline::report {
namespace {

using result::DevicePart;

constexpr std::string_view kPartsCaveat =
    "Enqueue is the host's time of starting an inference, by the host's clock; the others are by the "
    "device's. "
    "Of blocks, enqueue is of the first inference, and the others are of the last.";

struct PartName {
  std::string_view name, words;
};
constexpr std::array<PartName, 4> kPartNames{{{result::kEnqueue, "enqueue"},
                                              {result::kH2d, "H2D"},
                                              {result::kDeviceCompute, "compute"},
                                              {result::kD2h, "D2H"}}};

std::string ms_or_none(const Number& ns) {
  return ns ? format_significant(*ns * 1e-6) : kNone;
}

Table medians_table(const std::vector<ReportCase>& cases) {
  Table table{.heads = {"median and p99 in ms"}};
  for (const auto& part : kPartNames) {
    table.heads.emplace_back(part.words);
    table.heads.emplace_back("p99");
  }
  for (const auto& entry : cases) {
    std::vector<Cell> cells{name_of(entry)};
    for (const auto& [name, words] : kPartNames) {
      const DevicePart* found = nullptr;
      for (const auto& part : entry.one->device_parts)
        if (part.name == name) found = &part;
      cells.emplace_back(found ? ms_or_none(found->p50_ns) : kNone);
      cells.emplace_back(found ? ms_or_none(found->p99_ns) : kNone);
    }
    table.add(std::move(cells));
  }
  return table;
}

// The page has them with each case.
Sections parts_of_runs(std::span<const ReportRun> runs, Form form) {
  const auto cases = cases_with(runs, [](const CaseResult& one) { return !one.device_parts.empty(); });
  if (cases.empty() || form == Form::kPage) return {};
  auto table = medians_table(cases);
  share_labels(table);
  return {{.table = std::move(table), .notes = {std::string(kPartsCaveat)}}};
}

Sections parts_of_case(const ReportCase& entry) {
  if (entry.one->device_parts.empty()) return {};
  Table table{.heads = {"part", "min ms", "mean ms", "median ms", "p99 ms"}};
  for (const auto& part : entry.one->device_parts)
    for (const auto& [name, words] : kPartNames)
      if (part.name == name)
        table.add(std::string(words), ms_or_none(part.min_ns), ms_or_none(part.mean_ns),
                  ms_or_none(part.p50_ns), ms_or_none(part.p99_ns));
  return {
      {.title = "Parts of an inference", .table = std::move(table), .notes = {std::string(kPartsCaveat)}}};
}

}  // namespace

constexpr Subject kDeviceParts{.id = "device-parts",
                               .heading = "Parts of an inference on a device",
                               .of_runs = parts_of_runs,
                               .of_case = parts_of_case};

}  // namespace paceline::report
