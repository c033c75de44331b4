// SPDX-License-Identifier: MIT
#include "analysis/cause_words.h"

#include <algorithm>
#include <array>

#include "result/stored/rank_evidence.h"

namespace paceline::analysis {
namespace {

constexpr std::array<CauseWords, 11> kCauses{
    {{result::late_cause::kForeignProcess, "another process on its CPUs",
      "End that process or move it to other CPUs, or give the rank separate CPUs ({pin})."},
     {result::late_cause::kCpuWait, "too few CPUs for its threads",
      "Its own threads or other ranks take the same CPUs in turns: use fewer {threads}, {workers} or ranks "
      "per "
      "host, or pin them."},
     {result::late_cause::kSteal, "CPU time taken by the hypervisor",
      "The host of this virtual machine is shared: ask for dedicated CPUs, or leave the machine out."},
     {result::late_cause::kCpuQuota, "the CPU quota of its control group",
      "Raise the CPU limit of its container, or use as many threads as the limit has CPUs."},
     {result::late_cause::kClock, "a slower clock",
      "Check cooling, power limits and the frequency governor of that host (paceline validate)."},
     {result::late_cause::kDeviceClock, "a slower clock of its GPU",
      "Check the cooling and the power limit of that GPU; until then leave it out."},
     {result::late_cause::kPageFaults, "page faults",
      "See what maps new memory in every step there: an allocator that returns memory, or mapped files."},
     {result::late_cause::kDiskReads, "memory that is read from a disk",
      "Memory is short there, or mapped data lie on a slow disk: free memory, or copy the data to a faster "
      "one."},
     {result::late_cause::kLoader, "its data loader",
      "Raise {loader}, or look at the disk or network that it reads from, and at what it does to each "
      "sample."},
     {result::late_cause::kCpuTime, "more CPU time than the others need",
      "It has more to compute (uneven batches), or its process is slower by chance: start the job again, and "
      "see whether the same rank is late."},
     {kLargerInputs, "larger inputs",
      "Give all ranks batches of one size (drop_last, a sampler that sorts by length, the same "
      "padding)."}}};

}  // namespace

CauseWords words_of_cause(std::string_view name) {
  const auto* const row = std::ranges::find(kCauses, name, &CauseWords::name);
  return row == kCauses.end() ? CauseWords{name, name, ""} : *row;
}

}  // namespace paceline::analysis
