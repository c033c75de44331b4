// SPDX-License-Identifier: MIT
// Shows the course of clock and power of the GPUs under the latencies of a case.
#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "report/chart/plots.h"
#include "report/subjects.h"
#include "result/stored/device_state.h"

namespace paceline::report {
namespace {

// "cuda:0: 236 readings, power cap in 50 % of the samples."
std::string course_reading(const CaseResult& one) {
  std::vector<std::string> parts;
  for (const auto& state : one.devices) {
    const auto slowed = result::slowdown_text(state.slowdowns);
    parts.push_back(fmt::format("{}: {}, {}", state.device, plural(state.readings, "reading"),
                                slowed.empty() ? "nothing slowed it down" : slowed));
  }
  return join(parts, "; ") + ". The readings at both ends of a window are left out.";
}

Sections course_sections(const ReportCase& entry) {
  auto plots = device_plots(entry);
  if (plots.empty() || entry.one->devices.empty()) return {};
  return {{.chart = {"device", "Clock and power of the GPU", course_reading(*entry.one), "sm_clock_mhz",
                     std::move(plots), entry.one->case_id}}};
}

constexpr std::array kCourseCharts{ChartReason{"device", "no sampler read the clock or the power of a GPU"}};

}  // namespace

constexpr Subject kDeviceCourse{
    .heading = "Clock and power of the GPU", .of_case = course_sections, .charts = kCourseCharts};

}  // namespace paceline::report
