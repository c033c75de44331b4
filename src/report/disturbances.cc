// SPDX-License-Identifier: MIT
#include "report/disturbances.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/units.h"
#include "report/case_cells.h"
#include "result/stored/device_slowdown.h"

namespace paceline::report {
namespace {

using result::RankEvidence;

// A fraction tells nothing of many.
std::string faults_text(double average) {
  constexpr double kMany = 100;
  return average < kMany ? format_count(average) : format_fixed(average, 0);
}

std::string milliseconds(const Number& ns) {
  return or_none(ns, format_ms);
}

struct Column {
  const char* head;
  std::string (*cell)(const RankEvidence& of);
  bool number = true;
};
constexpr std::array kColumns{
    Column{"waited for a CPU ms", [](const RankEvidence& e) { return milliseconds(e.runq_wait_ns); }},
    Column{"CPU time ms", [](const RankEvidence& e) { return milliseconds(e.cpu_ns); }},
    Column{"in the kernel ms", [](const RankEvidence& e) { return milliseconds(e.system_ns); }},
    Column{"page faults", [](const RankEvidence& e) { return or_none(e.minor_faults, faults_text); }},
    Column{"stopped by quota ms", [](const RankEvidence& e) { return milliseconds(e.throttled_ns); }},
    Column{"stolen", [](const RankEvidence& e) { return percent_or_none(e.steal_frac); }},
    Column{"others on its CPUs", [](const RankEvidence& e) { return percent_or_none(e.foreign_frac); }},
    Column{"clock MHz", [](const RankEvidence& e) { return significant_or_none(e.core_mhz); }},
    Column{"GPU clock MHz", [](const RankEvidence& e) { return significant_or_none(e.device_mhz); }},
    Column{"largest other process",
           [](const RankEvidence& e) { return e.foreign_process.empty() ? kNone : e.foreign_process; },
           false},
    Column{"GPU slowed by",
           [](const RankEvidence& e) {
             return e.device_slowdowns.empty() ? kNone : result::slowdown_text(e.device_slowdowns);
           },
           false},
};

}  // namespace

answer::Table disturbance_table(const result::Training& training) {
  std::vector<const result::RankFigures*> ranks;
  for (const auto& one : training.ranks)
    if (one.evidence.cpu_ns) ranks.push_back(&one);
  answer::Table table{.heads = {"rank"}, .numbers_to = 1};
  for (const auto* one : ranks) table.add(std::to_string(one->rank));
  for (const auto& column : kColumns) {
    const auto is_known = [&](const auto* one) { return column.cell(one->evidence) != kNone; };
    if (std::ranges::none_of(ranks, is_known)) continue;
    table.heads.emplace_back(column.head);
    if (column.number) ++table.numbers_to;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      table.rows[r].cells.push_back(column.cell(ranks[r]->evidence));
  }
  return table;
}

}  // namespace paceline::report
