// SPDX-License-Identifier: MIT
#include "host/machine/cpu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <optional>
#include <set>
#include <span>

#include "base/text.h"
#include "host/machine/affinity.h"
#include "host/machine/cgroup.h"

namespace paceline::host {
namespace {

using Text = Maybe<std::string>;
using CpuinfoFields = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view kCpuRoot = "sys/devices/system/cpu/";
constexpr std::array<std::string_view, 21> kIsa{
    "sse4_2",   "avx",      "f16c",        "fma",         "avx2",        "avx_vnni", "avx512f",
    "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16",
    "amx_int8", "amx_fp16", "asimd",       "asimddp",     "sve",         "bf16",     "i8mm"};
constexpr std::array<std::string_view, 3> kTimingFlags{"constant_tsc", "nonstop_tsc", "hypervisor"};

std::string cpu_folder(int cpu) {
  return std::string(kCpuRoot) + "cpu" + std::to_string(cpu) + "/";
}

// Fields of the first processor's block: "model name\t: AMD EPYC".
CpuinfoFields read_cpuinfo(const SystemFiles& files) {
  CpuinfoFields fields;
  for (const auto& line : split(files.read("proc/cpuinfo").value_or(""), '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    fields.try_emplace(std::string(trim(std::string_view(line).substr(0, colon))),
                       trim(std::string_view(line).substr(colon + 1)));
  }
  return fields;
}

// Tries the names that the same fact has on x86 and on Arm.
Text text_field(const CpuinfoFields& fields, std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    if (const auto at = fields.find(name); at != fields.end() && !at->second.empty()) return at->second;
  }
  return Text::missing("not in /proc/cpuinfo");
}

Count int_field(const CpuinfoFields& fields, std::string_view name) {
  const auto at = fields.find(name);
  const auto value = at == fields.end() ? std::nullopt : parse_int(at->second);
  return value ? Count(*value) : Count::missing("not in /proc/cpuinfo");
}

std::vector<std::string> chosen_flags(const CpuinfoFields& fields, std::span<const std::string_view> wanted) {
  const Text text = text_field(fields, {"flags", "Features"});
  const auto present = text ? words_of(*text) : std::vector<std::string>{};
  std::vector<std::string> chosen;
  for (const auto name : wanted) {
    if (std::find(present.begin(), present.end(), name) != present.end()) chosen.emplace_back(name);
  }
  return chosen;
}

// Reads /sys/devices/system/cpu/online, or the processor lines where /sys is not mounted.
std::vector<int> read_online(const SystemFiles& files) {
  auto online = parse_cpu_list(files.read(std::string(kCpuRoot) + "online").value_or(""));
  if (!online.empty()) return online;
  for (const auto& line : split(files.read("proc/cpuinfo").value_or(""), '\n')) {
    if (!line.starts_with("processor")) continue;
    if (const auto number = find_int_field(line, "processor")) online.push_back(static_cast<int>(*number));
  }
  return online;
}

// A core is named by its first CPU; empty when the topology is not known.
std::optional<int> core_name(const SystemFiles& files, int cpu) {
  const auto siblings =
      parse_cpu_list(files.read(cpu_folder(cpu) + "topology/thread_siblings_list").value_or(""));
  if (siblings.empty()) return std::nullopt;
  return *std::min_element(siblings.begin(), siblings.end());
}

void read_topology(const SystemFiles& files, CpuInfo& cpu) {
  std::set<long long> sockets;
  std::set<int> cores;
  for (const int one : cpu.online) {
    if (const auto core = core_name(files, one)) cores.insert(*core);
    if (const auto socket = files.read_int(cpu_folder(one) + "topology/physical_package_id")) {
      sockets.insert(std::max(0LL, *socket));  // -1: the hypervisor does not tell, so one package
    }
  }
  if (cores.empty()) {
    cpu.sockets = cpu.cores = cpu.threads_per_core = Count::missing("no CPU topology in /sys");
    return;
  }
  const auto count = static_cast<std::int64_t>(cores.size());
  cpu.cores = count;
  cpu.threads_per_core = (static_cast<std::int64_t>(cpu.online.size()) + count - 1) / count;
  cpu.sockets = static_cast<std::int64_t>(std::max<std::size_t>(1, sockets.size()));
}

// "32768K", "16M"
std::optional<std::int64_t> parse_cache_size(std::string_view text) {
  const auto number = text.empty() ? std::nullopt : parse_int(text.substr(0, text.size() - 1));
  if (!number || *number < 0) return std::nullopt;
  if (text.back() == 'K') return *number * 1024;
  if (text.back() == 'M') return *number * 1024 * 1024;
  return std::nullopt;
}

struct Cache {
  std::int64_t bytes = 0;
  std::string cpus;  // that share it; empty: the system does not say
  auto operator<=>(const Cache&) const = default;
};

std::optional<Cache> last_level_cache(const SystemFiles& files, int cpu) {
  const std::string folder = cpu_folder(cpu) + "cache/";
  std::optional<Cache> cache;
  long long deepest = 0;
  for (const auto& name : files.list(folder)) {
    const auto level = files.read_int(folder + name + "/level");
    const auto bytes = parse_cache_size(files.read_trimmed(folder + name + "/size").value_or(""));
    if (!level || !bytes || *level <= deepest) continue;
    deepest = *level;
    cache = Cache{*bytes, files.read_trimmed(folder + name + "/shared_cpu_list").value_or("")};
  }
  return cache;
}

Count read_llc(const SystemFiles& files, const std::vector<int>& online) {
  if (online.empty()) return Count::missing("no CPU list in /sys");
  const auto cache = last_level_cache(files, online.front());
  return cache ? Count(cache->bytes) : Count::missing("no caches in /sys");
}

void read_frequency_policy(const SystemFiles& files, CpuInfo& cpu) {
  const std::string policy = cpu.online.empty() ? "" : cpu_folder(cpu.online.front()) + "cpufreq/";
  cpu.governor = {files.read_trimmed(policy + "scaling_governor"), "no cpufreq"};
  cpu.frequency_driver = {files.read_trimmed(policy + "scaling_driver"), "no cpufreq"};
  const auto no_turbo = files.read_int(std::string(kCpuRoot) + "intel_pstate/no_turbo");
  const auto boost = files.read_int(std::string(kCpuRoot) + "cpufreq/boost");
  if (no_turbo) {
    cpu.turbo = *no_turbo == 0;
  } else {
    cpu.turbo = boost ? Maybe<bool>(*boost != 0) : Maybe<bool>::missing("no turbo switch in /sys");
  }
}

void read_mitigations(const SystemFiles& files, CpuInfo& cpu) {
  const std::string folder = std::string(kCpuRoot) + "vulnerabilities/";
  for (const auto& name : files.list(folder)) {
    if (auto state = files.read_trimmed(folder + name)) cpu.mitigations[name] = std::move(*state);
  }
}

Count read_numa_nodes(const SystemFiles& files) {
  const auto nodes = parse_cpu_list(files.read("sys/devices/system/node/online").value_or(""));
  return nodes.empty() ? Count::missing("no NUMA nodes in /sys")
                       : Count(static_cast<std::int64_t>(nodes.size()));
}

bool lists(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool CpuInfo::has_isa(std::string_view name) const {
  return lists(isa, name);
}

bool CpuInfo::virtualized() const {
  return lists(timing_flags, "hypervisor");
}

CpuInfo read_cpu(const SystemFiles& files, std::vector<int> affinity) {
  const CpuinfoFields fields = read_cpuinfo(files);
  CpuInfo cpu;
  cpu.model = text_field(fields, {"model name", "Model", "Hardware", "CPU part"});
  cpu.vendor = text_field(fields, {"vendor_id", "CPU implementer"});
  cpu.microcode = text_field(fields, {"microcode", "CPU revision"});
  cpu.family = int_field(fields, "cpu family");
  cpu.model_number = int_field(fields, "model");
  cpu.stepping = int_field(fields, "stepping");
  cpu.isa = chosen_flags(fields, kIsa);
  cpu.timing_flags = chosen_flags(fields, kTimingFlags);
  cpu.online = read_online(files);
  cpu.affinity = std::move(affinity);
  cpu.cgroup_quota_cpus = cgroup_cpu_quota(files, Cgroups(files));
  cpu.llc_bytes = read_llc(files, cpu.online);
  cpu.numa_nodes = read_numa_nodes(files);
  read_topology(files, cpu);
  read_frequency_policy(files, cpu);
  read_mitigations(files, cpu);
  return cpu;
}

CpuInfo read_cpu(const SystemFiles& files) {
  return read_cpu(files, current_affinity());
}

int allowed_cpu_count(std::size_t affinity_cpus, const Number& quota_cpus) {
  auto allowed = static_cast<double>(affinity_cpus);
  if (quota_cpus) allowed = std::min(allowed, std::floor(*quota_cpus));
  return static_cast<int>(std::max(1.0, allowed));
}

int allowed_cpu_count(const CpuInfo& cpu) {
  const auto& usable = cpu.affinity.empty() ? cpu.online : cpu.affinity;
  return allowed_cpu_count(usable.size(), cpu.cgroup_quota_cpus);
}

std::int64_t last_level_bytes(const SystemFiles& files, const std::vector<int>& cpus) {
  std::set<Cache> caches;
  for (const int cpu : cpus)
    if (const auto cache = last_level_cache(files, cpu)) caches.insert(*cache);
  std::int64_t bytes = 0;
  for (const auto& cache : caches) bytes += cache.bytes;
  return bytes;
}

std::vector<int> cores_first(const SystemFiles& files, const std::vector<int>& cpus) {
  std::vector<int> sorted = cpus, first, second;
  std::sort(sorted.begin(), sorted.end());
  std::set<int> cores;
  for (const int cpu : sorted) {
    (cores.insert(core_name(files, cpu).value_or(cpu)).second ? first : second).push_back(cpu);
  }
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace paceline::host
