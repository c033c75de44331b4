// SPDX-License-Identifier: MIT
// Words what the devices of a case did while it was timed, and whether the device or the host decides its
// grade.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/case_query.h"
#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/format_table.h"
#include "report/html_parts.h"
#include "report/subjects.h"
#include "result/figures/device_figures.h"

namespace paceline::report {
namespace {

using result::DeviceState;
using result::Number;

// "1755 MHz (lowest 1620)"; empty without a mean.
std::string with_extreme(const Number& mean, std::string_view unit, std::string_view word,
                         const Number& extreme) {
  if (!mean) return {};
  const auto text = fmt::format("{:.0f} {}", *mean, unit);
  return extreme ? fmt::format("{} ({} {:.0f})", text, word, *extreme) : text;
}

// "cuda:0: busy 93 %, 1755 MHz (lowest 1620), 512 W (highest 698), power cap in 50 % of the samples, 0.21 J
// per image"
std::string device_text(const CaseResult& one, const DeviceState& state) {
  std::vector<std::string> parts{
      state.utilization_mean ? fmt::format("busy {}", format_percent(*state.utilization_mean, 0)) : "",
      with_extreme(state.sm_clock_mean_mhz, "MHz", "lowest", state.sm_clock_min_mhz),
      with_extreme(state.power_mean_w, "W", "highest", state.power_max_w)};
  for (const auto& slowed : state.slowdowns)
    parts.push_back(fmt::format("{} in {} of the samples", slowed.reason, result::share_text(slowed.share)));
  parts.push_back(energy_text(one, state));
  if (state.temperature_max_c) parts.push_back(fmt::format("at most {:.0f} °C", *state.temperature_max_c));
  if (state.other_processes && *state.other_processes > 0)
    parts.push_back(plural(*state.other_processes, "process") + " of others");
  std::erase(parts, "");
  const bool ranked = state.rank != 0 && !state.of_rank;
  const auto name = ranked ? fmt::format("{} of rank {}", state.device, state.rank) : state.device;
  return parts.empty() ? "" : fmt::format("{}: {}", name, join(parts, ", "));
}

Sections device_sections(const ReportCase& entry) {
  const CaseResult& one = *entry.one;
  const auto states = result::device_states(one);
  if (!analysis::is_ok(one) || states.empty()) return {};
  std::vector<std::string> parts{decides_text(one)};
  for (const auto& state : states) parts.push_back(device_text(one, state));
  std::erase(parts, "");
  return {{.title = "Device", .paragraphs = {join(parts, "; ")}, .metric = "device_share"}};
}

// "The device decides the grades of 15 cases: 98.9 to 99.9 % of their wall time."
std::string deciding_text(std::string_view who, const std::vector<double>& shares) {
  if (shares.empty()) return {};
  const auto [low, high] = std::ranges::minmax(shares);
  const auto range = format_percent(low) == format_percent(high)
                         ? format_percent(low)
                         : fmt::format("{:.1f} to {}", low * 100, format_percent(high));
  return fmt::format("The {} decides the grade{} of {}: device time is {} of {} wall time.", who,
                     shares.size() == 1 ? "" : "s", plural(std::ssize(shares), "case"), range,
                     shares.size() == 1 ? "its" : "their");
}

std::string whole(const Number& number) {
  return number ? fmt::format("{:.0f}", *number) : kNone;
}

// A row per device of a case that has readings.
Table device_table(const std::vector<ReportCase>& cases) {
  Table table{.heads = {"case", "device", "busy", "clock MHz", "lowest", "power W", "highest", "idle W",
                        "J per item", "power cap", "slowed down", "highest °C"},
              .numbers_from = 2};
  for (const auto& entry : cases)
    for (const auto& state : result::device_states(*entry.one))
      table.add(linked(name_of(entry), case_anchor(entry)), state.device,
                percent_or_none(state.utilization_mean), whole(state.sm_clock_mean_mhz),
                whole(state.sm_clock_min_mhz), whole(state.power_mean_w), whole(state.power_max_w),
                whole(state.idle_power_w), energy_cell(state),
                percent_or_none(result::power_cap_share(state)),
                percent_or_none(result::slowdown_share(state)), whole(state.temperature_max_c));
  share_labels(table);
  return table;
}

// On the page what devices did; in texts, whose lines of cases have that, who decides where there are no
// lines.
Sections device_overview(std::span<const ReportRun> runs, Form form) {
  const auto cases = cases_with(runs, analysis::is_ok);
  if (form == Form::kPage) {
    auto table = device_table(cases);
    return table.rows.empty() ? Sections() : Sections{{.table = std::move(table)}};
  }
  std::vector<double> device, host;
  for (const auto& entry : cases) {
    const auto share = result::device_share(*entry.one);
    if (!share || !result::device_states(*entry.one).empty()) continue;
    (result::device_decides(*entry.one) ? device : host).push_back(*share);
  }
  std::vector<std::string> notes{deciding_text("device", device), deciding_text("host", host)};
  std::erase(notes, "");
  return notes.empty() ? Sections() : Sections{{.notes = std::move(notes)}};
}

}  // namespace

constexpr Subject kDevices{.id = "devices",
                           .heading = "Devices",
                           .case_heading = "devices",
                           .listed = true,
                           .place = Place::kBeforeChart,
                           .of_runs = device_overview,
                           .of_case = device_sections};

}  // namespace paceline::report
