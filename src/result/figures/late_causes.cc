// SPDX-License-Identifier: MIT
#include "result/figures/late_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/units.h"
#include "stats/quantile.h"

namespace paceline::result {
namespace {

constexpr double kExplains = 0.3;        // of the lateness
constexpr double kForeign = 0.05;        // of the time of its CPUs, beyond the others
constexpr double kSlowerClock = 0.03;    // relative to the others
constexpr double kMoreFaults = 2;        // times those of the others
constexpr double kManyFaults = 100;      // per step
constexpr double kOneThread = 1.2;       // CPU time over own time
constexpr double kDiskReads = 1;         // per step
constexpr double kSlowestReadNs = 10e6;  // a page from a disk takes no longer

// One figure of the late rank beside the median of the others.
struct Beside {
  double own = 0, others = 0;
  [[nodiscard]] double beyond() const { return own - others; }
};

// Rank that the rules judge, with its evidence.
struct Suspect {
  const Lateness& late;
  const std::vector<RankFigures>& ranks;

  [[nodiscard]] const RankEvidence& own() const { return ranks[late.rank].evidence; }
  // Times that are summed over threads keep the step waiting for a part of them.
  [[nodiscard]] double threads() const {
    return static_cast<double>(std::max<std::int64_t>(1, ranks[late.rank].threads));
  }
  // None where the late rank or all others lack the figure.
  [[nodiscard]] std::optional<Beside> beside(Number RankEvidence::*figure) const {
    std::vector<double> others;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      if (const Number& value = ranks[r].evidence.*figure; value && r != late.rank) others.push_back(*value);
    if (!(own().*figure) || others.empty()) return std::nullopt;
    return Beside{*(own().*figure), stats::median(others)};
  }
};

using MaybeCause = std::optional<LateCause>;

std::string of_others(const std::string& figure) {
  return fmt::format(" ({} on the other ranks)", figure);
}

std::string cpu_words(const RankFigures& rank) {
  return rank.cpus.empty() ? "its CPUs" : fmt::format("its CPUs {}", rank.cpus);
}

// The cause is another process when such processes used more of its CPUs than of the CPUs of the others.
// Ranks that share their CPUs have the same ones: whom they keep waiting is up to the kernel.
MaybeCause waited_for_cpu(const Suspect& c) {
  const auto waited = c.beside(&RankEvidence::runq_wait_ns);
  if (!waited) return std::nullopt;
  LateCause cause{
      late_cause::kCpuWait, waited->beyond(),
      fmt::format("a thread of it waited {} per step for a CPU{}", format_duration_ns(waited->own),
                  of_others(format_duration_ns(waited->others)))};
  const auto foreign = c.beside(&RankEvidence::foreign_frac);
  if (!foreign || foreign->own < kForeign) return cause;
  if (foreign->beyond() >= kForeign) cause.name = late_cause::kForeignProcess;
  const auto& process = c.own().foreign_process;
  cause.evidence +=
      fmt::format("; other processes used {} of {}{}{}", format_percent(foreign->own),
                  cpu_words(c.ranks[c.late.rank]), of_others(format_percent(foreign->others)),
                  process.empty() ? std::string() : fmt::format("; {} used most of it", process));
  return cause;
}

MaybeCause stolen(const Suspect& c) {
  const auto steal = c.beside(&RankEvidence::steal_frac);
  if (!steal) return std::nullopt;
  return LateCause{
      late_cause::kSteal, c.late.own_ns * steal->beyond(),
      fmt::format("the hypervisor took {} of the time in which {} had work{}", format_percent(steal->own),
                  cpu_words(c.ranks[c.late.rank]), of_others(format_percent(steal->others)))};
}

MaybeCause stopped_by_quota(const Suspect& c) {
  const auto stopped = c.beside(&RankEvidence::throttled_ns);
  if (!stopped) return std::nullopt;
  return LateCause{
      late_cause::kCpuQuota, stopped->beyond() / c.threads(),
      fmt::format("the CPU quota of its control group stopped its threads for {} per step{}",
                  format_duration_ns(stopped->own), of_others(format_duration_ns(stopped->others)))};
}

MaybeCause slower(const Suspect& c, Number RankEvidence::*clock, const char* name, const std::string& whose) {
  const auto mhz = c.beside(clock);
  if (!mhz || mhz->others <= 0 || mhz->own > (1 - kSlowerClock) * mhz->others) return std::nullopt;
  return LateCause{name, c.late.own_ns * (1 - mhz->own / mhz->others),
                   fmt::format("the clock of {} was {} MHz{}", whose, format_fixed(mhz->own, 0),
                               of_others(fmt::format("{} MHz", format_fixed(mhz->others, 0))))};
}

MaybeCause slower_clock(const Suspect& c) {
  return slower(c, &RankEvidence::core_mhz, late_cause::kClock, cpu_words(c.ranks[c.late.rank]));
}

MaybeCause slower_device(const Suspect& c) {
  auto cause = slower(c, &RankEvidence::device_mhz, late_cause::kDeviceClock, "its GPU");
  if (const auto slowed = slowdown_text(c.own().device_slowdowns); cause && !slowed.empty())
    cause->evidence += "; " + slowed;
  return cause;
}

MaybeCause page_faults(const Suspect& c) {
  const auto kernel = c.beside(&RankEvidence::system_ns), faults = c.beside(&RankEvidence::minor_faults);
  if (!kernel || !faults || faults->own < kManyFaults || faults->own < kMoreFaults * faults->others)
    return std::nullopt;
  return LateCause{
      late_cause::kPageFaults, kernel->beyond() / c.threads(),
      fmt::format("it had {} page faults per step{}, and the kernel worked {} for it{}",
                  format_fixed(faults->own, 0), of_others(format_fixed(faults->others, 0)),
                  format_duration_ns(kernel->own), of_others(format_duration_ns(kernel->others)))};
}

// How long a page takes from the disk is not counted anywhere.
MaybeCause disk_reads(const Suspect& c) {
  const auto reads = c.beside(&RankEvidence::major_faults);
  if (!reads || reads->beyond() < kDiskReads) return std::nullopt;
  if (reads->beyond() * kSlowestReadNs < kExplains * c.late.late_ns) return std::nullopt;
  return LateCause{late_cause::kDiskReads, Number::missing("the time of a page from the disk is not counted"),
                   fmt::format("{} pages of its memory per step came from the disk{}",
                               format_fixed(reads->own, 1), of_others(format_fixed(reads->others, 1)))};
}

MaybeCause slow_loader(const Suspect& c) {
  const auto& late = c.late;
  return LateCause{late_cause::kLoader, late.data_wait_ns - late.others_data_wait_ns,
                   fmt::format("it waited {} per step for its data{}", format_duration_ns(late.data_wait_ns),
                               of_others(format_duration_ns(late.others_data_wait_ns)))};
}

// More to compute, or a process that is slower than the next one by chance.
MaybeCause computes_longer(const Suspect& c) {
  const auto cpu = c.beside(&RankEvidence::cpu_ns);
  // Threads that are not counted may spin while one of them waits.
  const bool known = c.ranks[c.late.rank].threads > 0 || (cpu && cpu->own <= kOneThread * c.late.own_ns);
  if (!cpu || !known) return std::nullopt;
  return LateCause{late_cause::kCpuTime, cpu->beyond() / c.threads(),
                   fmt::format("it used {} of CPU time per step{}", format_duration_ns(cpu->own),
                               of_others(format_duration_ns(cpu->others)))};
}

constexpr std::array kCauseRules{waited_for_cpu, stolen,      stopped_by_quota, slower_clock,
                                 slower_device,  page_faults, disk_reads,       slow_loader};

}  // namespace

std::vector<LateCause> causes_of(const Lateness& late, const std::vector<RankFigures>& ranks) {
  const Suspect c{late, ranks};
  std::vector<LateCause> causes;
  if (late.late_ns <= 0) return causes;
  const auto add = [&](MaybeCause cause) {
    if (cause && (!cause->explains_ns || *cause->explains_ns >= kExplains * late.late_ns))
      causes.push_back(std::move(*cause));
  };
  for (const auto rule : kCauseRules) add(rule(c));
  if (causes.empty()) add(computes_longer(c));  // others take CPU time, too
  std::ranges::stable_sort(causes, std::ranges::greater{},
                           [](const LateCause& cause) { return cause.explains_ns.value().value_or(0); });
  return causes;
}

}  // namespace paceline::result
