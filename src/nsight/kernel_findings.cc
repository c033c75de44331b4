// SPDX-License-Identifier: MIT
// Rules of Nsight Compute's guide ("Speed Of Light", "Occupancy", "Warp State Statistics"), with its limit of
// 60 % for what bounds a kernel.
#include "nsight/kernel_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.h"

namespace paceline::nsight {

using answer::Finding;

namespace {

constexpr double kBound = 0.6;    // of the highest throughput: what bounds a kernel
constexpr double kMatters = 0.1;  // of the time of all kernels
constexpr double kFewTensorCycles = 0.01, kManyConflicts = 0.2, kManyStalls = 0.3, kLowOccupancy = 0.3,
                 kFewWaves = 0.5;
constexpr double kShortNs = 5000;
constexpr std::size_t kMostFindings = 5;

struct Stall {
  std::string_view reason, words, advice;
};
constexpr std::array kStalls{
    Stall{"long scoreboard", "data of L1, L2 or DRAM",
          "larger batch or more threads per multiprocessor to hide it; data that stays in shared memory"},
    Stall{"short scoreboard", "shared memory or special functions",
          "fewer conflicting or narrower accesses to shared memory"},
    Stall{"barrier", "other warps of the block", "evener work per warp, or smaller blocks"},
    Stall{"math pipe throttle", "an arithmetic unit that is full",
          "lower precision; it does what it can otherwise"},
    Stall{"lg throttle", "the queue of global memory", "wider loads"},
    Stall{"mio throttle", "the queue of shared memory and special functions",
          "fewer or wider accesses to shared memory"},
    Stall{"tex throttle", "the queue of the texture unit", "fewer texture fetches"},
    Stall{"imc miss", "constants that are not in the cache", "a larger grid: short kernels begin with it"},
    Stall{"no instruction", "instructions that are not in the cache",
          "a larger grid: short kernels begin with it"},
    Stall{"branch resolving", "the target of a branch", "fewer divergent branches"},
    Stall{"dispatch stall", "the dispatcher", ""},
    Stall{"drain", "memory writes at its end", "fewer, larger kernels"},
    Stall{"membar", "a memory barrier", "fewer fences"},
    Stall{"gmma", "tensor cores", "it does what it can; lower precision"},
    Stall{"wait", "a fixed latency", "more warps per scheduler"},
    Stall{"sleeping", "a sleep on purpose", ""},
    Stall{"not selected", "its turn: there are warps enough", ""}};

const Stall* find_stall(std::string_view reason) {
  const auto found = std::ranges::find(kStalls, reason, &Stall::reason);
  return found == kStalls.end() ? nullptr : &*found;
}

bool multiplies(const std::string& name) {
  constexpr std::array<std::string_view, 7> kSigns{"gemm",  "conv", "fprop",  "wgrad",
                                                   "dgrad", "xmma", "cutlass"};
  return std::ranges::any_of(kSigns, [&](auto sign) { return name.find(sign) != std::string::npos; });
}

std::string percent(double share) {
  return format_percent(share, 0);
}

std::string subject(const KernelFigures& kernel) {
  constexpr std::size_t kLongest = 60;
  const auto name = short_name(kernel.name);
  return fmt::format("{} ({} of the time, {})",
                     name.size() > kLongest ? name.substr(0, kLongest - 1) + "…" : name,
                     percent(kernel.share), plural(static_cast<std::int64_t>(kernel.launches), "call"));
}

constexpr const char* kAdvice = "advice";

using Rule = std::optional<Finding> (*)(const KernelFigures&);

std::optional<Finding> idle_tensor_cores(const KernelFigures& k) {
  if (!k.tensor || *k.tensor >= kFewTensorCycles || !multiplies(k.name)) return std::nullopt;
  return Finding{"idle_tensor_cores", kAdvice, subject(k) + " multiplies matrices without the tensor cores",
                 fmt::format("they work in {} of its cycles", format_percent(*k.tensor)),
                 "--precision tf32, fp16 or bf16"};
}

std::optional<Finding> bank_conflicts(const KernelFigures& k) {
  if (!k.bank_conflicts || *k.bank_conflicts < kManyConflicts) return std::nullopt;
  return Finding{
      "bank_conflicts", kAdvice, subject(k) + " waits for banks of shared memory",
      fmt::format("{} of its accesses to shared memory are conflicts", percent(*k.bank_conflicts)),
      "another layout or padding of its tiles; for a library's kernel another algorithm: cudnn_benchmark"};
}

std::optional<Finding> memory_bound(const KernelFigures& k) {
  const auto memory = std::max(k.memory.value_or(0), k.dram.value_or(0));
  if (memory < kBound || memory < k.compute.value_or(0)) return std::nullopt;
  const bool by_dram = k.dram.value_or(0) >= kBound;
  std::string evidence = fmt::format("{} of the highest throughput of {}", percent(memory),
                                     by_dram ? "DRAM" : "caches and memory");
  if (k.l2_hits) evidence += fmt::format(", L2 hit rate {}", percent(std::min(1.0, *k.l2_hits)));
  return Finding{"memory_bound", kAdvice, subject(k) + " is bound by memory", evidence,
                 multiplies(k.name)
                     ? "a smaller type, channels_last for convolutions"
                     : "an engine that fuses it with its neighbours: --engine aotinductor or tensorrt"};
}

std::optional<Finding> compute_bound(const KernelFigures& k) {
  if (k.compute.value_or(0) < kBound) return std::nullopt;
  return Finding{"compute_bound", kAdvice, subject(k) + " is bound by arithmetic",
                 fmt::format("{} of the highest throughput of the multiprocessors", percent(*k.compute)),
                 "a smaller type; nothing else makes it much faster"};
}

std::optional<Finding> small_grid(const KernelFigures& k) {
  if (!k.waves || *k.waves >= kFewWaves || k.compute.value_or(1) >= kBound) return std::nullopt;
  return Finding{"small_grid", kAdvice, subject(k) + " has too few blocks for this GPU",
                 fmt::format("its grid fills {} of one turn of all multiprocessors", percent(*k.waves)),
                 "--batch, larger; or a graph, where many such kernels follow each other"};
}

std::optional<Finding> waiting_warps(const KernelFigures& k) {
  const auto* stall = find_stall(k.stall);
  if (!stall || stall->advice.empty() || k.stall_share.value_or(0) < kManyStalls) return std::nullopt;
  std::string evidence =
      fmt::format("stall '{}': {} of the cycles in which warps wait", k.stall, percent(*k.stall_share));
  if (k.occupancy) evidence += fmt::format("; occupancy {}", percent(*k.occupancy));
  if (k.occupancy_limit && *k.occupancy_limit < kLowOccupancy && !k.limited_by.empty())
    evidence += fmt::format(", at most {} for its {}", percent(*k.occupancy_limit), k.limited_by);
  return Finding{"waiting_warps", kAdvice, fmt::format("{} waits for {}", subject(k), stall->words), evidence,
                 std::string(stall->advice)};
}

// In the order in which a cause explains the others; a kernel has one finding.
constexpr std::array<Rule, 6> kRules{idle_tensor_cores, bank_conflicts, memory_bound,
                                     compute_bound,     small_grid,     waiting_warps};

std::optional<Finding> short_kernels(std::span<const KernelFigures> kernels) {
  std::size_t launches = 0;
  double share = 0;
  for (const auto& k : kernels)
    if (k.time_ns / static_cast<double>(k.launches) < kShortNs) launches += k.launches, share += k.share;
  if (share < kMatters) return std::nullopt;
  return Finding{"short_kernels", kAdvice,
                 fmt::format("{} of less than {} take {} of the time",
                             plural(static_cast<std::int64_t>(launches), "call"),
                             format_duration_ns(kShortNs), percent(share)),
                 "a launch costs the host about as long",
                 "a graph (--cuda-graphs true), a larger batch, an engine that fuses"};
}

}  // namespace

std::vector<Finding> kernel_findings(std::span<const KernelFigures> kernels) {
  std::vector<Finding> found;
  for (const auto& kernel : kernels) {
    if (kernel.share < kMatters) break;
    for (const auto& rule : kRules)
      if (auto finding = rule(kernel)) {
        found.push_back(std::move(*finding));
        break;
      }
  }
  if (auto many = short_kernels(kernels)) found.push_back(std::move(*many));
  if (found.size() > kMostFindings) found.resize(kMostFindings);
  return found;
}

std::string_view stall_words(std::string_view reason) {
  const auto* stall = find_stall(reason);
  return stall ? stall->words : "";
}

std::string short_name(const std::string& name) {
  std::string text, given = name;
  constexpr std::string_view kUnnamed = "<unnamed>::";
  for (auto at = given.find(kUnnamed); at != std::string::npos; at = given.find(kUnnamed))
    given.erase(at, kUnnamed.size());
  int depth = 0;  // of angle brackets
  for (const char c : given) {
    if (c == '(' && depth == 0 && !text.empty() && !text.ends_with("::")) break;
    if (c == '<') ++depth;
    if (depth == 0) text += c;
    if (c == '>' && depth > 0) --depth;
  }
  if (text.starts_with("void ")) text.erase(0, 5);
  return text.empty() ? name : text;
}

}  // namespace paceline::nsight
