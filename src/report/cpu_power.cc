// SPDX-License-Identifier: MIT
// Words what the CPUs of the hosts of a case drew while it was timed.
#include <fmt/format.h>

#include "analysis/case_query.h"
#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/html_parts.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

using result::CpuPower;

std::string watts(const Number& number) {
  return number ? format_fixed(*number, 0) : kNone;
}

std::string socket_name(const CpuPower& power) {
  const std::string name = power.part == result::kCpuMemory ? "memory" : "CPU";
  return power.rank == 0 ? name : fmt::format("{} of rank {}'s host", name, power.rank);
}

// "CPU: 182 W (highest 201), 0.61 J per image, 0.4 above 60 W of idle (packages 0+1 of the whole machine, …)"
std::string power_text(const CaseResult& one, const CpuPower& power) {
  if (!power.power_mean_w) return fmt::format("{}: {}", socket_name(power), power.power_mean_w.reason());
  auto text = fmt::format("{}: {} W", socket_name(power), watts(power.power_mean_w));
  if (power.power_max_w) text += fmt::format(" (highest {})", watts(power.power_max_w));
  if (const auto energy = energy_text(one, power); !energy.empty()) text += ", " + energy;
  return fmt::format("{}; {}", text, power.scope);
}

Sections power_of_case(const ReportCase& entry) {
  const auto& one = *entry.one;
  if (!analysis::is_ok(one) || one.cpu_power.empty()) return {};
  std::vector<std::string> parts;
  for (const auto& power : one.cpu_power) parts.push_back(power_text(one, power));
  return {{.title = "CPU power", .paragraphs = {join(parts, "; ")}, .metric = "cpu_power_w"}};
}

Sections power_of_runs(std::span<const ReportRun> runs, Form form) {
  if (form != Form::kPage) return {};  // the lines of cases have it
  Table table{.heads = {"case", "what", "power W", "highest", "idle W", "J per item", "whose energy"},
              .numbers_from = 2,
              .numbers_to = 6};
  for (const auto& entry : cases_with(runs, analysis::is_ok))
    for (const auto& power : entry.one->cpu_power)
      table.add(linked(name_of(entry), case_anchor(entry)), socket_name(power), watts(power.power_mean_w),
                watts(power.power_max_w), watts(power.idle_power_w), energy_cell(power), power.scope);
  share_labels(table);
  return table.rows.empty() ? Sections() : Sections{{.table = std::move(table)}};
}

}  // namespace

constexpr Subject kCpuPower{.id = "cpu-power",
                            .heading = "CPU power",
                            .case_heading = "CPU power",
                            .listed = true,
                            .place = Place::kBeforeChart,
                            .of_runs = power_of_runs,
                            .of_case = power_of_case};

}  // namespace paceline::report
