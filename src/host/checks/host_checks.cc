// SPDX-License-Identifier: MIT
#include "host/checks/host_checks.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/rapl.h"
#include "base/text.h"
#include "base/units.h"
#include "host/checks/gpu_health.h"
#include "host/checks/gpu_links.h"
#include "host/machine/accelerators.h"
#include "host/machine/affinity.h"
#include "host/machine/cpu.h"
#include "host/machine/gpu_condition.h"
#include "host/machine/memory.h"

namespace paceline::host {
namespace {

using Path = std::filesystem::path;

constexpr double kScarceMemoryBytes = 4e9;  // a ViT-B/16 or BERT-large case with its reference
constexpr std::int64_t kShmBytesPerLoaderWorker = 64LL << 20;
constexpr double kScarceDiskBytes = 1e9;
constexpr double kNoDiskBytes = 50e6;
constexpr double kQuietShare = 0.05;
constexpr double kLoudShare = 0.25;
constexpr std::int64_t kInitialTimeNamespace = 4026531834;  // PROC_TIME_INIT_INO, fixed by the kernel

CheckResult pass(std::string text) {
  return {Verdict::kYes, std::move(text), {}};
}
CheckResult warn(std::string text, std::string fix) {
  return {Verdict::kReservedly, std::move(text), std::move(fix)};
}
CheckResult fail(std::string text, std::string fix) {
  return {Verdict::kNo, std::move(text), std::move(fix)};
}
CheckResult skip(std::string text) {
  return {Verdict::kNotAsked, std::move(text), {}};
}

std::string bytes_in_words(std::int64_t bytes) {
  return format_bytes(static_cast<double>(bytes));
}

CpuInfo cpu_of(const HostCheckOptions& o) {
  return read_cpu(o.files, o.affinity.empty() ? current_affinity() : o.affinity);
}

// The extensions that decide speed, widest first.
struct IsaWord {
  std::string_view flag, word;
};
constexpr std::array<IsaWord, 9> kIsaWords{{{"amx_tile", "AMX"},
                                            {"amx_bf16", "AMX bf16"},
                                            {"amx_int8", "AMX int8"},
                                            {"avx512_fp16", "AVX-512 fp16"},
                                            {"avx512_bf16", "AVX-512 bf16"},
                                            {"avx512_vnni", "AVX-512 VNNI"},
                                            {"avx512f", "AVX-512"},
                                            {"avx2", "AVX2"},
                                            {"asimd", "NEON"}}};

std::string isa_in_words(const CpuInfo& cpu) {
  std::vector<std::string> words;
  for (const auto& [flag, word] : kIsaWords) {
    if (cpu.has_isa(flag)) words.emplace_back(word);
  }
  return words.empty() ? "no vector extension known here" : join(words, ", ");
}

CheckResult check_model(const HostCheckOptions& o) {
  const CpuInfo cpu = cpu_of(o);
  const std::string text = fmt::format("{}: {}", cpu.model ? *cpu.model : "unknown model", isa_in_words(cpu));
  if (cpu.has_isa("avx2") || cpu.has_isa("asimd")) return pass(text);
  return warn(text, "kernels fall back to slow paths without AVX2: measure on a newer CPU");
}

CheckResult check_cores(const HostCheckOptions& o) {
  const CpuInfo cpu = cpu_of(o);
  std::string text = plural(std::ssize(cpu.online), "CPU") + " online, ";
  text += cpu.cgroup_quota_cpus
              ? fmt::format("cgroup allows {}", format_significant(*cpu.cgroup_quota_cpus, 3))
              : "no cgroup limit";
  if (!cpu.affinity.empty() && cpu.affinity.size() < cpu.online.size()) {
    text += fmt::format(", affinity allows {}", format_cpu_list(cpu.affinity));
  }
  if (!cpu.cgroup_quota_cpus || *cpu.cgroup_quota_cpus >= static_cast<double>(cpu.affinity.size()))
    return pass(text);
  if (*cpu.cgroup_quota_cpus < 1)
    return warn(text,
                "a quota below one CPU stops even one thread mid-run: raise it, or give a cpuset (docker "
                "run --cpuset-cpus)");
  return warn(text, fmt::format("a quota stops threads mid-run: use --threads {} or less, or give a cpuset "
                                "(docker run --cpuset-cpus)",
                                allowed_cpu_count(cpu)));
}

CheckResult check_frequency(const HostCheckOptions& o) {
  const CpuInfo cpu = cpu_of(o);
  if (!cpu.governor) {
    return warn("no cpufreq: clocks cannot be seen or fixed here", "compare only interleaved runs");
  }
  const std::string turbo = cpu.turbo ? (*cpu.turbo ? ", turbo on" : ", turbo off") : "";
  const std::string text = fmt::format("governor {}{}", *cpu.governor, turbo);
  if (*cpu.governor == "performance") return pass(text);
  return warn(text, "cpupower frequency-set -g performance, or compare only interleaved runs");
}

CheckResult check_memory(const HostCheckOptions& o) {
  const MemoryInfo memory = read_memory(o.files);
  const auto usable = usable_bytes(memory);
  if (!usable) return skip("the kernel does not report how much memory there is");
  std::string text = fmt::format("{} usable", bytes_in_words(*usable));
  if (memory.total_bytes) text += fmt::format(" of {}", bytes_in_words(*memory.total_bytes));
  if (memory.cgroup_limit_bytes)
    text += fmt::format(", cgroup limit {}", bytes_in_words(*memory.cgroup_limit_bytes));
  if (static_cast<double>(*usable) >= kScarceMemoryBytes) return pass(text);
  return warn(text, "free memory or raise the limit: large models and batches need 4 GB and more");
}

CheckResult check_energy(const HostCheckOptions& o) {
  auto counters = rapl::counters(o.powercap);
  if (auto reason = rapl::refusal(counters); !reason.empty()) return skip(std::move(reason));
  std::vector<std::string> names;
  for (const auto& one : counters)
    if (one.part() != rapl::Part::kOther) names.push_back(one.name());
  return pass("energy counters of " + join(names, ", "));
}

constexpr std::array<std::string_view, 4> kFineClocks{"tsc", "kvm-clock", "arch_sys_counter",
                                                      "hyperv_clocksource_tsc_page"};

CheckResult check_clock(const HostCheckOptions& o) {
  const auto source = o.files.read_trimmed("sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!source || source->empty()) return skip("the kernel does not report its clock source");
  if (std::find(kFineClocks.begin(), kFineClocks.end(), *source) != kFineClocks.end()) return pass(*source);
  return warn(fmt::format("{}: a reading costs about a microsecond", *source),
              "boot with clocksource=tsc, or measure iterations above 1 ms only");
}

CheckResult check_neighbours(const HostCheckOptions& o) {
  const CpuUse before = o.seams.sample();
  if (!o.seams.sleep(o.look_s)) return skip("interrupted");
  const CpuUse after = o.seams.sample();
  const auto cores = foreign_cores(before, after);
  if (!cores) return skip(fmt::format("neighbours cannot be seen: {}", cores.reason()));
  const auto words = words_of(o.files.read("proc/loadavg").value_or(""));
  std::string text =
      fmt::format("neighbours used {:.2f} of {} CPUs in {:g} s", *cores, after.ticks->cpus, o.look_s);
  if (!words.empty()) text += fmt::format(", load {}", words.front());
  const double share = *cores / after.ticks->cpus;
  if (share <= kQuietShare) return pass(text);
  return warn(text, share <= kLoudShare ? "stop other programs, or expect grade B and wider intervals"
                                        : "stop other programs: latencies taken now would be grade C");
}

CheckResult check_huge_pages(const HostCheckOptions& o) {
  const auto mode = read_memory(o.files).transparent_hugepages;
  if (!mode) return skip(mode.reason());
  const std::string text = fmt::format("transparent huge pages: {}", *mode);
  if (*mode != "always") return pass(text);
  return warn(
      text,
      "memory figures vary by pages of 2 MB: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

CheckResult check_shared_memory(const HostCheckOptions& o) {
  const auto space = o.files.exists("dev/shm") ? o.space("/dev/shm") : std::nullopt;
  const std::int64_t needed = std::max(2, o.ranks) * kShmBytesPerLoaderWorker * std::max(1, o.loader_workers);
  const std::string need = fmt::format("{} ranks × {} workers need {}", std::max(2, o.ranks),
                                       std::max(1, o.loader_workers), bytes_in_words(needed));
  const std::string fix = "docker run --shm-size=1g";
  const auto short_of = [&](const std::string& text) {
    return o.ranks > 1 ? fail(text, fix) : warn(text, fix);
  };
  if (!space || space->total_bytes == 0) return short_of(fmt::format("no /dev/shm; {}", need));
  if (space->total_bytes >= needed)
    return pass(fmt::format("/dev/shm has {}", bytes_in_words(space->total_bytes)));
  return short_of(fmt::format("/dev/shm has {}, {}", bytes_in_words(space->total_bytes), need));
}

CheckResult check_swap(const HostCheckOptions& o) {
  const MemoryInfo memory = read_memory(o.files);
  if (!memory.swap_total_bytes || !memory.swap_free_bytes) return skip("the kernel does not report swap");
  const std::int64_t used = *memory.swap_total_bytes - *memory.swap_free_bytes;
  if (*memory.swap_total_bytes == 0) return pass("none");
  const std::string text =
      fmt::format("{} of {} used", bytes_in_words(used), bytes_in_words(*memory.swap_total_bytes));
  return used == 0 ? pass(text)
                   : warn(text, "pages on disk make iterations wait: free memory, then swapoff -a");
}

CheckResult check_time_namespace(const HostCheckOptions& o) {
  const std::string link = o.files.link_target("proc/self/ns/time").value_or("");
  if (link.empty()) return skip("the kernel has no time namespaces");
  if (link == fmt::format("time:[{}]", kInitialTimeNamespace)) return pass("the machine's own");
  return warn(fmt::format("a separate one ({})", link),
              "time stamps of other processes cannot be compared with ours; durations are right");
}

// Reported, not judged: changing them for a benchmark is the owner's decision.
CheckResult check_security(const HostCheckOptions& o) {
  const auto randomization = o.files.read_trimmed("proc/sys/kernel/randomize_va_space");
  const CpuInfo cpu = cpu_of(o);
  const auto active = std::count_if(cpu.mitigations.begin(), cpu.mitigations.end(),
                                    [](const auto& one) { return one.second.starts_with("Mitigation"); });
  return pass(fmt::format("address randomization {}, {} CPU mitigations active (recorded)",
                          randomization && *randomization == "0" ? "off" : "on", active));
}

Path nearest_existing(Path path) {
  std::error_code error;
  path = std::filesystem::absolute(path, error);
  while (!std::filesystem::exists(path, error) && path.has_relative_path()) path = path.parent_path();
  return path;
}

CheckResult check_output(const HostCheckOptions& o) {
  const std::string name = o.output_dir.string();
  const auto space = o.space(o.output_dir);
  if (!space) return skip(fmt::format("the space of {} is not known", name));
  std::string text = fmt::format("{} has {} free", name, bytes_in_words(space->available_bytes));
  const auto available = static_cast<double>(space->available_bytes);
  if (available < kNoDiskBytes) return fail(text, "free space, or choose another folder with -o DIR");
  const auto speed = o.disk(nearest_existing(o.output_dir), space->available_bytes);
  if (!speed.refusal.empty())
    return fail(fmt::format("{} cannot be written: {}", name, speed.refusal),
                "choose another folder with -o DIR");
  text += ", " + in_words(speed);
  if (available < kScarceDiskBytes) return warn(text, "raw samples of a large plan may need more");
  return pass(text);
}

CheckResult check_gpu_state(const HostCheckOptions& o) {
  if (const auto absent = no_nvidia_device_reason(o.files); !absent.empty()) return skip(absent);
  const auto gpus = read_gpu_conditions(o.nvml);
  if (gpus.empty()) return skip("the driver lists no GPU");
  std::vector<std::string> states, problems, fixes;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    states.push_back(fmt::format("{}: {}", i, in_words(gpus[i])));
    for (auto& [text, fix] : problems_of(gpus[i], i)) {
      problems.push_back(fmt::format("{}: {}", i, text));
      if (std::ranges::find(fixes, fix) == fixes.end()) fixes.push_back(std::move(fix));
    }
  }
  return problems.empty() ? pass(join(states, "; ")) : warn(join(problems, "; "), join(fixes, "; "));
}

struct Row {
  const char* name;
  CheckResult (*run)(const HostCheckOptions&);
  bool for_inference;
};
constexpr std::array<Row, 26> kRows{{
    {"cpu", check_model, true},
    {"cores", check_cores, true},
    {"frequency", check_frequency, true},
    {"memory", check_memory, true},
    {"GPUs", [](const HostCheckOptions& o) { return check_gpus(o.files, o.nvml); }, true},
    {"GPU state", check_gpu_state, true},
    {"GPU temperature", [](const HostCheckOptions& o) { return check_gpu_temperature(o.files, o.nvml); },
     true},
    {"GPU slowdown", [](const HostCheckOptions& o) { return check_gpu_slowdown(o.files, o.nvml); }, true},
    {"GPU memory", [](const HostCheckOptions& o) { return check_gpu_memory(o.files, o.nvml); }, true},
    {"GPU errors", [](const HostCheckOptions& o) { return check_gpu_errors(o.files); }, true},
    {"GPU fabric", [](const HostCheckOptions& o) { return check_gpu_fabric(o.files, o.nvml); }, true},
    {"GPU links", [](const HostCheckOptions& o) { return check_gpu_links(o.files, o.nvml); }, false},
    {"CPU energy", check_energy, false},
    {"clock", check_clock, true},
    {"neighbours", check_neighbours, true},
    {"huge pages", check_huge_pages, true},
    {"swap", check_swap, true},
    {"shared memory", check_shared_memory, false},
    {"time namespace", check_time_namespace, false},
    {"limits", [](const HostCheckOptions& o) { return check_limits(o.files); }, false},
    {"host name", [](const HostCheckOptions& o) { return check_host_name(o.files, o.network); }, false},
    {"rendezvous port", [](const HostCheckOptions& o) { return check_port(o.files, o.network, o.port); },
     false},
    {"synchronisation", [](const HostCheckOptions& o) { return check_synchronisation(o.network); }, false},
    {"InfiniBand", [](const HostCheckOptions& o) { return check_infiniband(o.files); }, false},
    {"security", check_security, true},
    {"output folder", check_output, true},
}};

}  // namespace

std::optional<DiskSpace> disk_space(const Path& path) {
  struct statvfs space {};
  if (::statvfs(nearest_existing(path).c_str(), &space) != 0) return std::nullopt;
  const auto block = static_cast<std::int64_t>(space.f_frsize);
  return DiskSpace{static_cast<std::int64_t>(space.f_blocks) * block,
                   static_cast<std::int64_t>(space.f_bavail) * block};
}

std::vector<Check> host_checks(const HostCheckOptions& options) {
  std::vector<Check> checks;
  for (const auto& row : kRows) {
    std::vector<Purpose> needed_by{Purpose::kMultiRankTraining};
    if (row.for_inference) needed_by.push_back(Purpose::kInference);
    checks.push_back({row.name, std::move(needed_by), [run = row.run, options] { return run(options); }});
  }
  return checks;
}

}  // namespace paceline::host
