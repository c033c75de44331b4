// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "report/answer_parts.h"
#include "report/report_run.h"

// The charts of a report as plots, made from results; empty where a run has nothing for them. Times are in
// ms.
namespace paceline::report {

using Cases = std::vector<ReportCase>;

// case_plots.cc
Plots latency_plots(std::span<const ReportRun> runs);
Plots throughput_plots(std::span<const ReportRun> runs);
// One plot of all models, where there are several.
Plots latency_plots_of_all_models(std::span<const ReportRun> runs);
Plots throughput_plots_of_all_models(std::span<const ReportRun> runs);
Plots pareto_plots(std::span<const ReportRun> runs);
Plots speedup_plots(std::span<const ReportRun> runs);
Plots memory_plots(std::span<const ReportRun> runs);
Plots peak_plots(std::span<const ReportRun> runs);
Plots stage_plots(std::span<const ReportRun> runs);

// sample_plots.cc
inline constexpr std::size_t kServersDrawn = 6;
Plots request_plots(std::span<const ReportRun> runs);
// Distribution and course over time, each of at most `max_points` points.
Plots sample_plots(const ReportCase& entry, std::size_t max_points);

// device_plots.cc: clock and power of the GPUs in the timed windows, by the sampler nvml
Plots device_plots(const ReportCase& entry);

// machine_plots.cc: CPUs, memory, power, network, disks and GPUs over time
Plots machine_plots(const MachineCourse& course);

// roofline_plots.cc: of each kind of device, the cases whose FLOPs and bytes are known
Plots roofline_plots(std::span<const ReportRun> runs);

// training_plots.cc
Plots scaling_plots(const Cases& cases);     // throughput over ranks: ideal, measured, predicted
Plots efficiency_plots(const Cases& cases);  // likewise
Plots total_time_plots(const Cases& cases);
Plots part_plots(const Cases& cases);    // of a step
Plots budget_plots(const Cases& cases);  // from the ideal step to the measured one
Plots loss_plots(const Cases& cases);

// step_plots.cc: of one case whose steps are at hand
Plots timeline_plots(const ReportCase& entry);   // of a typical step and of the longest
Plots rank_time_plots(const ReportCase& entry);  // distribution over the steps
Plots straggler_plots(const ReportCase& entry);  // rank by step

}  // namespace paceline::report
