// SPDX-License-Identifier: MIT
#include "nsight/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>

#include "base/display_text.h"
#include "base/error.h"
#include "base/units.h"
#include "nsight/kernel_findings.h"

namespace paceline::nsight {
namespace {

using Value = std::optional<double>;
using Names = std::initializer_list<std::string_view>;

// The first of these metrics that the launch has: names of the raw page, then those of the details page.
Value metric(const KernelLaunch& launch, Names names) {
  for (const auto name : names)
    if (const auto found = launch.metrics.find(name); found != launch.metrics.end()) return found->second;
  return std::nullopt;
}
Value share_metric(const KernelLaunch& launch, Names names) {
  const auto percent = metric(launch, names);
  return percent ? Value(*percent / 100) : std::nullopt;
}

// The busiest kind of tensor pipe; each generation of hardware has other names.
Value tensor_share(const KernelLaunch& launch) {
  Value most;
  for (const auto& [name, value] : launch.metrics)
    if (name.starts_with("sm__pipe_tensor") && name.ends_with(".avg.pct_of_peak_sustained_elapsed"))
      most = std::max(most.value_or(0), value / 100);
  if (most) return most;
  for (const auto& [name, value] : launch.metrics)
    if (name.starts_with("sm__inst_executed_pipe_tensor") && name.ends_with("pct_of_peak_sustained_active"))
      most = std::max(most.value_or(0), value / 100);
  return most;
}

Value bank_conflict_share(const KernelLaunch& launch) {
  const auto conflicts = metric(launch, {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"});
  const auto all = metric(launch, {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"});
  return conflicts && all && *all > 0 ? Value(*conflicts / *all) : std::nullopt;
}

// Sums the tensor pipes by the types that they take. A sum includes counts with and without sparsity.
Value tensor_flops_per_s(const KernelLaunch& launch) {
  constexpr std::string_view kTensor = "sm__ops_path_tensor_src_", kPerSecond = ".sum.per_second",
                             kPerCycle = ".sum.per_cycle_elapsed";
  const auto cycles = metric(launch, {"sm__cycles_elapsed.avg.per_second"});
  std::map<std::string, double> by_type;
  for (const auto& [name, value] : launch.metrics) {
    if (!name.starts_with(kTensor) || name.substr(kTensor.size()).starts_with("int")) continue;
    const auto type = name.substr(0, name.find('.'));
    if (name.ends_with(kPerSecond)) by_type[type] = value;
    if (name.ends_with(kPerCycle) && cycles) by_type.try_emplace(type, value * *cycles);
  }
  Value sum;
  for (const auto& [type, value] : by_type) {
    const auto part = type.find("_sparsity_");
    if (part == std::string::npos || !by_type.contains(type.substr(0, part))) sum = sum.value_or(0) + value;
  }
  return sum;
}

// Per second: of the tensor pipes, and of threads by instructions in a cycle, as ncu's own roofline counts
// them. Instructions on halves work on two at once. None where tensor pipes worked and were not counted.
Value flops_per_s(const KernelLaunch& launch) {
  Value sum = tensor_flops_per_s(launch);
  if (!sum && tensor_share(launch).value_or(0) > 0) return std::nullopt;
  const auto cycles = metric(launch, {"smsp__cycles_elapsed.avg.per_second"});
  constexpr std::array<std::pair<std::string_view, int>, 9> kOperations{{{"fadd", 1},
                                                                         {"fmul", 1},
                                                                         {"ffma", 2},
                                                                         {"dadd", 1},
                                                                         {"dmul", 1},
                                                                         {"dfma", 2},
                                                                         {"hadd", 2},
                                                                         {"hmul", 2},
                                                                         {"hfma", 4}}};
  for (const auto& [operation, flops] : kOperations) {
    const auto name =
        fmt::format("smsp__sass_thread_inst_executed_op_{}_pred_on.sum.per_cycle_elapsed", operation);
    if (const auto found = metric(launch, {name}); found && cycles)
      sum = sum.value_or(0) + *found * *cycles * flops;
  }
  return sum;
}

// The resource that allows the fewest blocks per multiprocessor.
std::string occupancy_limit(const KernelLaunch& launch) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLimits{
      {{"launch__occupancy_limit_registers", "registers"},
       {"launch__occupancy_limit_shared_mem", "shared memory"},
       {"launch__occupancy_limit_warps", "threads per block"},
       {"launch__occupancy_limit_blocks", "blocks per multiprocessor"}}};
  std::string limit;
  Value least;
  for (const auto& [name, words] : kLimits)
    if (const auto blocks = metric(launch, {name}); blocks && (!least || *blocks < *least))
      least = blocks, limit = words;
    else if (blocks && *blocks == *least)
      limit += fmt::format(" and {}", words);
  return limit;
}

// Cycles in which warps wait, by reason, per issued instruction.
std::map<std::string, double> stalls_of(const KernelLaunch& launch) {
  constexpr std::string_view kBefore = "smsp__average_warps_issue_stalled_",
                             kBehind = "_per_issue_active.ratio";
  std::map<std::string, double> stalls;
  for (const auto& [name, value] : launch.metrics) {
    if (!name.starts_with(kBefore) || !name.ends_with(kBehind)) continue;
    auto reason = name.substr(kBefore.size(), name.size() - kBefore.size() - kBehind.size());
    std::ranges::replace(reason, '_', ' ');
    if (reason != "selected") stalls[reason] = value;
  }
  return stalls;
}

constexpr double kLongestNs = 1e18;  // 30 years: no kernel, but a damaged file

// Adds up what launches of one kernel have, each weighted by its time.
class Sum {
 public:
  void add(const KernelLaunch& launch, double time_ns) {
    figures_.name = launch.name;
    ++figures_.launches;
    figures_.time_ns += time_ns;
    for (const auto& row : kRows)
      if (const auto value = row.read(launch)) weigh(row.into, *value, time_ns);
    for (const auto& [reason, cycles] : stalls_of(launch)) stalls_[reason] += cycles * time_ns;
    if (figures_.limited_by.empty()) figures_.limited_by = occupancy_limit(launch);
  }

  KernelFigures take(double all_ns) {
    figures_.share = all_ns > 0 ? figures_.time_ns / all_ns : 0;
    for (const auto& [into, sum] : sums_)
      if (sum.weight > 0) figures_.*into = sum.value / sum.weight;
    double waiting = 0;
    for (const auto& [reason, cycles] : stalls_) waiting += cycles;
    const auto most = std::ranges::max_element(stalls_, {}, [](const auto& one) { return one.second; });
    if (waiting > 0) figures_.stall = most->first, figures_.stall_share = most->second / waiting;
    return std::move(figures_);
  }

 private:
  using Into = Value KernelFigures::*;
  struct Row {
    Into into;
    Value (*read)(const KernelLaunch&);
  };
  static constexpr std::array<Row, 13> kRows{{
      {&KernelFigures::compute,
       [](const KernelLaunch& l) {
         return share_metric(
             l, {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "Compute (SM) Throughput", "SM [%]"});
       }},
      {&KernelFigures::memory,
       [](const KernelLaunch& l) {
         return share_metric(l, {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
                                 "Memory Throughput", "Memory [%]"});
       }},
      {&KernelFigures::dram,
       [](const KernelLaunch& l) {
         return share_metric(l, {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                                 "dram__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM Throughput"});
       }},
      {&KernelFigures::tensor, tensor_share},
      {&KernelFigures::occupancy,
       [](const KernelLaunch& l) {
         return share_metric(l, {"sm__warps_active.avg.pct_of_peak_sustained_active", "Achieved Occupancy"});
       }},
      {&KernelFigures::occupancy_limit,
       [](const KernelLaunch& l) {
         return share_metric(l, {"sm__maximum_warps_per_active_cycle_pct", "Theoretical Occupancy"});
       }},
      {&KernelFigures::l1_hits,
       [](const KernelLaunch& l) {
         return share_metric(l, {"l1tex__t_sector_hit_rate.pct", "L1/TEX Hit Rate"});
       }},
      {&KernelFigures::l2_hits,
       [](const KernelLaunch& l) {
         return share_metric(l, {"lts__t_sector_hit_rate.pct", "L2 Hit Rate"});
       }},
      {&KernelFigures::bank_conflicts, bank_conflict_share},
      {&KernelFigures::flops_per_s, flops_per_s},
      {&KernelFigures::bytes_per_s,
       [](const KernelLaunch& l) { return metric(l, {"dram__bytes.sum.per_second"}); }},
      {&KernelFigures::registers,
       [](const KernelLaunch& l) {
         return metric(l, {"launch__registers_per_thread", "Registers Per Thread"});
       }},
      {&KernelFigures::waves,
       [](const KernelLaunch& l) {
         return metric(l, {"launch__waves_per_multiprocessor", "Waves Per SM"});
       }},
  }};

  struct Weighed {
    Into into;
    struct {
      double value = 0, weight = 0;
    } sum;
  };
  void weigh(Into into, double value, double weight) {
    auto found = std::ranges::find_if(sums_, [&](const Weighed& one) { return one.into == into; });
    if (found == sums_.end()) found = sums_.insert(found, Weighed{into, {}});
    found->sum.value += value * weight, found->sum.weight += weight;
  }

  KernelFigures figures_;
  std::vector<Weighed> sums_;
  std::map<std::string, double> stalls_;
};

std::vector<KernelFigures> figures_of(const NcuFile& file, std::size_t& without_time) {
  std::map<std::string, Sum> by_name;
  double all_ns = 0;
  for (const auto& launch : file.launches) {
    const auto time_ns = metric(launch, {"gpu__time_duration.sum", "Duration"});
    if (!time_ns || *time_ns <= 0 || *time_ns > kLongestNs) {
      ++without_time;
      continue;
    }
    all_ns += *time_ns;
    by_name[launch.name].add(launch, *time_ns);
  }
  std::vector<KernelFigures> all;
  for (auto& [name, sum] : by_name) all.push_back(sum.take(all_ns));
  std::ranges::stable_sort(all, std::ranges::greater{}, &KernelFigures::time_ns);
  return all;
}

}  // namespace

KernelStudy study_kernels(const NcuFile& file, const std::string& source) {
  KernelStudy study{source, {}, {}, file.remarks};
  std::size_t without_time = 0;
  study.kernels = figures_of(file, without_time);
  if (study.kernels.empty())
    throw Error(
        ErrorCode::kData,
        fmt::format("{}: no kernel has a time (gpu__time_duration.sum, or Duration)", shown_path(source)));
  if (without_time > 0)
    study.remarks.push_back(fmt::format("{} without a time (gpu__time_duration.sum, or Duration): left out",
                                        plural(static_cast<std::int64_t>(without_time), "call")));
  study.remarks.emplace_back(
      "times are those under Nsight Compute, which runs kernels one by one at a fixed clock; compare their "
      "shares");
  study.findings = kernel_findings(study.kernels);
  return study;
}

}  // namespace paceline::nsight
