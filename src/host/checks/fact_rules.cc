// SPDX-License-Identifier: MIT
#include "host/checks/fact_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/display_text.h"
#include "base/units.h"

namespace paceline::host {
namespace {

constexpr double kSameBytes = 0.02;  // kernels keep some memory for themselves
constexpr auto kWorse = Verdict::kNo;
constexpr const char* kOtherHardware = "use a host of the same type, or save a file for this type";
constexpr const char* kSameLibrary = "install the same version on both";
constexpr const char* kSameSystem = "compare results of the same system only, or update the older one";

constexpr std::array<FactRule, 38> kFactRules{{
    {"Paceline", "", FactUnit::kNone, kWorse, false, kSameLibrary},
    {"plug-in ", "", FactUnit::kNone, kWorse, false, "paceline validate there shows why, and how to get it"},
    {"library ", "", FactUnit::kNone, kWorse, false, kSameLibrary},
    {"CPU model", "/cpu/model", FactUnit::kNone, kWorse, false, kOtherHardware},
    {"CPU extensions", "/cpu/isa", FactUnit::kNone, kWorse, false, kOtherHardware},
    {"microcode", "/cpu/microcode", FactUnit::kNone, Verdict::kReservedly, false, kSameSystem},
    {"sockets", "/cpu/sockets", FactUnit::kNone, kWorse, false, kOtherHardware},
    {"cores", "/cpu/cores_physical", FactUnit::kNone, kWorse, false, kOtherHardware},
    {"threads per core", "/cpu/threads_per_core", FactUnit::kNone, kWorse, false,
     "set hyper-threading alike in the BIOS"},
    {"NUMA nodes", "/cpu/numa_nodes", FactUnit::kNone, kWorse, false, "set NUMA alike in the BIOS"},
    {"last-level cache", "/cpu/llc_bytes", FactUnit::kBytes, kWorse, false, kOtherHardware},
    {"CPUs online", "/cpu/cores_online", FactUnit::kCpus, kWorse, true,
     "echo 1 > /sys/devices/system/cpu/cpuN/online, or use a host of the same type"},
    {"CPU quota", "/cpu/cgroup_quota_cpus", FactUnit::kCpus, kWorse, true,
     "raise cpu.max of its control group (docker run --cpus, the limits of the pod)"},
    {"CPUs in the affinity mask", "", FactUnit::kCpus, kWorse, true,
     "start it on all CPUs: without taskset, numactl or a narrower cpuset (docker run --cpuset-cpus)"},
    {"governor", "/cpu/governor", FactUnit::kNone, Verdict::kReservedly, false,
     "cpupower frequency-set -g performance"},
    {"turbo", "/cpu/turbo", FactUnit::kNone, Verdict::kReservedly, false, "set it alike in the BIOS"},
    {"memory", "/memory/total_bytes", FactUnit::kBytes, kWorse, true, kOtherHardware},
    {"memory limit", "/memory/cgroup_limit_bytes", FactUnit::kBytes, kWorse, true,
     "raise memory.max of its control group (docker run --memory, the limits of the pod)"},
    {"swap", "/memory/swap_total_bytes", FactUnit::kBytes, Verdict::kReservedly, false, "swapoff -a"},
    {"huge pages", "/memory/hugepages_total", FactUnit::kNone, Verdict::kReservedly, false,
     "sysctl vm.nr_hugepages=N"},
    {"transparent huge pages", "/memory/transparent_hugepages", FactUnit::kNone, Verdict::kReservedly, false,
     "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"},
    {"NVIDIA driver", "/nvidia/driver_version", FactUnit::kNone, kWorse, false,
     "install the same driver on both"},
    {"newest CUDA of the driver", "/nvidia/newest_cuda", FactUnit::kNone, kWorse, false,
     "install the same driver on both"},
    {"GPUs", "", FactUnit::kNone, kWorse, true, "nvidia-smi and dmesg there show why one is missing"},
    {"Nsight ", "", FactUnit::kNone, Verdict::kReservedly, false, kSameLibrary},
    {"kernel", "/os/kernel", FactUnit::kNone, Verdict::kReservedly, false, kSameSystem},
    {"distribution", "/os/distribution", FactUnit::kNone, Verdict::kReservedly, false, kSameSystem},
    {"glibc", "/os/glibc", FactUnit::kNone, Verdict::kReservedly, false, kSameSystem},
    {"container", "/os/container", FactUnit::kNone, Verdict::kReservedly, false,
     "start both in the same container, or both without"},
    {"virtualization", "/os/virtualization", FactUnit::kNone, Verdict::kReservedly, false, kOtherHardware},
    {"clock source", "/clock/source", FactUnit::kNone, Verdict::kReservedly, false,
     "boot with clocksource=tsc"},
    {"open files", "", FactUnit::kNone, kWorse, true, "ulimit -n 65536"},
    {"locked memory", "", FactUnit::kBytes, kWorse, true,
     "ulimit -l unlimited (LimitMEMLOCK=infinity of the service)"},
    {"processes", "", FactUnit::kNone, Verdict::kReservedly, true, "ulimit -u unlimited"},
    {"variable ", "", FactUnit::kNone, Verdict::kReservedly, false,
     "set it alike, or nowhere, in the shell that starts Paceline"},
    {"GPU links", "", FactUnit::kNone, kWorse, false,
     "nvidia-smi topo -m and nvidia-smi nvlink -s there show why"},
    {"GPU ", "", FactUnit::kNone, kWorse, false, kOtherHardware},  // its own rows are below
    {"", "", FactUnit::kNone, Verdict::kReservedly, false, "look at paceline validate on both"},
}};

constexpr std::array<FactRule, 9> kGpuFactRules{{
    {"model", "/name", FactUnit::kNone, kWorse, false, kOtherHardware},
    {"memory", "/memory_bytes", FactUnit::kBytes, kWorse, true, kOtherHardware},
    {"power limit", "/power_limit_w", FactUnit::kWatts, kWorse, true, "nvidia-smi -i N -pl WATTS"},
    {"maximum SM clock", "/max_sm_mhz", FactUnit::kMegahertz, kWorse, true, kOtherHardware},
    {"SM clock as set", "/application_sm_mhz", FactUnit::kMegahertz, kWorse, true,
     "nvidia-smi -i N --reset-applications-clocks"},
    {"ECC", "/ecc", FactUnit::kNone, kWorse, false, "nvidia-smi -i N -e 1, then reset the GPU"},
    {"PCIe lanes", "/pcie_width", FactUnit::kNone, kWorse, true, "check slot, riser and BIOS"},
    {"MIG", "/mig", FactUnit::kNone, kWorse, false, "nvidia-smi -i N -mig 0"},
    {"persistence mode", "/persistence", FactUnit::kNone, Verdict::kReservedly, false,
     "nvidia-smi -i N -pm 1"},
}};

bool is_named(const FactRule& rule, std::string_view fact) {
  return rule.name.ends_with(' ') || rule.name.empty() ? fact.starts_with(rule.name) : fact == rule.name;
}

std::string in_unit(double number, FactUnit unit) {
  switch (unit) {
    case FactUnit::kBytes:
      return format_bytes(number);
    case FactUnit::kCpus:
      return fmt::format("{:g} {}", number, number == 1 ? "CPU" : "CPUs");
    case FactUnit::kWatts:
      return fmt::format("{:.0f} W", number);
    case FactUnit::kMegahertz:
      return fmt::format("{:.0f} MHz", number);
    default:
      return fmt::format("{:.15g}", number);
  }
}

bool is_unlimited(const Fact& fact) {
  return fact.value.is_null() && fact.reason == kNoLimit;
}

std::optional<double> number_of(const Fact& fact) {
  if (is_unlimited(fact)) return std::numeric_limits<double>::infinity();
  return fact.value.is_number() ? std::optional<double>(fact.value.get<double>()) : std::nullopt;
}

bool is_close(double a, double b, FactUnit unit) {
  if (a == b) return true;
  return unit == FactUnit::kBytes && std::abs(a - b) <= kSameBytes * std::max(std::abs(a), std::abs(b));
}

}  // namespace

std::span<const FactRule> fact_rules() {
  return kFactRules;
}
std::span<const FactRule> gpu_fact_rules() {
  return kGpuFactRules;
}

// "GPU 0 power limit" is a row of the GPUs.
const FactRule& rule_of(std::string_view fact) {
  if (fact.starts_with("GPU ")) {
    const auto blank = fact.find(' ', 4);
    for (const auto& rule : kGpuFactRules)
      if (blank != std::string_view::npos && fact.substr(blank + 1) == rule.name) return rule;
  }
  return *std::ranges::find_if(kFactRules, [&](const auto& rule) { return is_named(rule, fact); });
}

std::string shown_value(const Fact& fact) {
  if (is_unlimited(fact)) return kNoLimit;
  if (fact.value.is_null()) return fact.reason.empty() ? "not known" : fact.reason;
  if (fact.value.is_boolean()) return fact.value.get<bool>() ? "on" : "off";
  if (fact.value.is_string()) return on_one_line(fact.value.get<std::string>());
  return fact.value.is_number() ? in_unit(fact.value.get<double>(), rule_of(fact.name).unit)
                                : fact.value.dump();
}

std::optional<Fact> absent_fact(const std::string& name) {
  if (name.starts_with("variable ")) return Fact{name, {}, "not set"};
  if (name.starts_with("plug-in ") || name.starts_with("library ")) return Fact{name, {}, "not there"};
  return std::nullopt;
}

std::optional<Verdict> judge(const Fact& found, const Fact& expected) {
  const auto& rule = rule_of(found.name);
  const auto here = number_of(found), there = number_of(expected);
  if (here && there) {
    if (is_close(*here, *there, rule.unit)) return std::nullopt;
    return rule.limit && *here > *there ? Verdict::kReservedly : rule.differs;
  }
  if (found.value == expected.value && is_unlimited(found) == is_unlimited(expected)) return std::nullopt;
  return rule.differs;
}

}  // namespace paceline::host
