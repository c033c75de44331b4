// SPDX-License-Identifier: MIT
#include "analysis/cause_words.h"

#include <algorithm>
#include <array>

namespace paceline::analysis {
namespace {

constexpr std::array<CauseWords, 9> kCauses{
    {{"foreign_process", "another process on its CPUs",
      "End that process or move it to other CPUs, or give the rank CPUs of its own (pin, threads)."},
     {"cpu_wait", "too few CPUs for its threads",
      "Its own threads or other ranks take the same CPUs in turns: use fewer threads, data.workers or ranks "
      "per "
      "host, or pin them."},
     {"steal", "CPU time taken by the hypervisor",
      "The host of this virtual machine is shared: ask for CPUs of its own, or leave the machine out."},
     {"cpu_quota", "the CPU quota of its control group",
      "Raise the CPU limit of its container, or use as many threads as the limit has CPUs."},
     {"clock", "a slower clock",
      "Check cooling, power limits and the frequency governor of that host (paceline validate)."},
     {"device_clock", "a slower clock of its GPU",
      "Check the cooling and the power limit of that GPU; until then leave it out."},
     {"page_faults", "page faults",
      "See what maps memory anew in every step there: an allocator that gives memory back, or mapped files."},
     {"disk_reads", "memory that is read from a disk",
      "Memory is short there, or mapped data lie on a slow disk: free memory, or copy the data to a faster "
      "one."},
     {"loader", "its data loader",
      "Raise data.workers or data.prefetch, or look at the disk or network that this rank reads from."}}};

}  // namespace

CauseWords words_of_cause(std::string_view name) {
  const auto* const row = std::ranges::find(kCauses, name, &CauseWords::name);
  return row == kCauses.end() ? CauseWords{name, name, ""} : *row;
}

}  // namespace paceline::analysis
