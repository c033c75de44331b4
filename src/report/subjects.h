// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "report/answer_parts.h"
#include "report/report_run.h"

// The subjects of a report besides its table of cases. A new one is a file that makes its sections, and a
// place in kSubjects.
namespace paceline::report {

// Place of sections among the details of a case on the page.
enum class Place { kBeforeChart, kBeforeFigures, kAfterFigures };

// A chart that a run may have, and why one has not.
struct ChartReason {
  std::string_view chart, why_not;
};

struct Subject {
  std::string_view id{};            // of its section on the page
  std::string_view heading{};       // in Markdown, and of a section of the page
  std::string_view case_heading{};  // on a terminal; empty: only the page has sections of cases
  std::string_view caveat{};        // what to keep in mind when reading sections of cases
  bool behind_cases = false;        // on the page; others come before them
  bool listed = false;              // texts say a sentence of each case under one heading
  Place place = Place::kBeforeFigures;
  // Nothing over all cases, or of one, where there is nothing to say.
  Sections (*of_runs)(std::span<const ReportRun>, Form) = nullptr;
  Sections (*of_case)(const ReportCase&) = [](const ReportCase&) { return Sections(); };
  std::span<const ChartReason> charts{};  // of its sections
};

extern const Subject kTraining, kBottlenecks, kWhatIf, kCollectives, kOperators, kCrossCheck, kLayers,
    kDeviceParts, kPictureParts, kSampled, kDevices, kCpuPower, kDeviceCourse, kDevicePeaks, kSharedWork,
    kWatchedMachine;

// In the order of a report.
inline constexpr std::array kSubjects{&kDevices,      &kCpuPower,    &kDeviceCourse, &kSharedWork,
                                      &kTraining,     &kBottlenecks, &kWhatIf,       &kCollectives,
                                      &kOperators,    &kCrossCheck,  &kLayers,       &kDeviceParts,
                                      &kPictureParts, &kSampled,     &kDevicePeaks,  &kWatchedMachine};

}  // namespace paceline::report
