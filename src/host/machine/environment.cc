// SPDX-License-Identifier: MIT
#include "host/machine/environment.h"

#include <gnu/libc-version.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "host/machine/accelerators.h"
#include "host/machine/affinity.h"
#include "host/machine/heap.h"

namespace paceline::host {
namespace {

using Json = nlohmann::json;
using Text = Maybe<std::string>;

// Settings of threading, maths, memory, device and communication libraries: whole names, and beginnings that
// end with '_'. None of them could carry a secret.
constexpr std::array<std::string_view, 34> kVariables{"OMP_",
                                                      "GOMP_",
                                                      "KMP_",
                                                      "NCCL_",
                                                      "GLOO_",
                                                      "TORCH_NCCL_",
                                                      "TORCH_GLOO_",
                                                      "TORCH_DISTRIBUTED_",
                                                      "TORCH_FR_",
                                                      "UCX_",
                                                      "FI_",
                                                      "CUDA_",
                                                      "CUBLAS_",
                                                      "CUDNN_",
                                                      "ONEDNN_",
                                                      "DNNL_",
                                                      "MALLOC_",
                                                      "TCMALLOC_",
                                                      "MIMALLOC_",
                                                      "LD_PRELOAD",
                                                      "MKL_NUM_THREADS",
                                                      "MKL_DYNAMIC",
                                                      "MKL_ENABLE_INSTRUCTIONS",
                                                      "MKL_CBWR",
                                                      "MKL_THREADING_LAYER",
                                                      "MKL_VERBOSE",
                                                      "OPENBLAS_",
                                                      "ATEN_CPU_CAPABILITY",
                                                      "PACELINE_HEAP",
                                                      "PACELINE_CALIBRATION",
                                                      "GLIBC_TUNABLES",
                                                      "PYTORCH_",
                                                      "NVIDIA_TF32_OVERRIDE",
                                                      "NVIDIA_VISIBLE_DEVICES"};

bool is_recorded(std::string_view name) {
  return std::any_of(kVariables.begin(), kVariables.end(), [&](std::string_view row) {
    return row.ends_with('_') ? name.starts_with(row) : name == row;
  });
}

template <typename T>
void put(Json& object, const std::string& key, const Maybe<T>& value) {
  if (value) {
    object[key] = *value;
  } else {
    object[key] = nullptr;
    object[key + "_reason"] = value.reason();
  }
}

Text line_of(const SystemFiles& files, const std::string& path) {
  auto text = files.read_trimmed(path);
  if (text && text->empty()) text.reset();
  return {std::move(text), "/" + path + " is not readable"};
}

Text distribution(const SystemFiles& files) {
  for (const auto& line : split(files.read("etc/os-release").value_or(""), '\n')) {
    if (!line.starts_with("PRETTY_NAME=")) continue;
    std::string name = line.substr(12);
    std::erase(name, '"');
    return name;
  }
  return Text::missing("no PRETTY_NAME in /etc/os-release");
}

// How a container runtime is recognised: by a file, or by the name of our control group.
struct ContainerHint {
  std::string_view runtime, file, group;
};
constexpr std::array<ContainerHint, 5> kContainerHints{
    {{"docker", ".dockerenv", "docker"},
     {"podman", "run/.containerenv", "libpod"},
     {"kubernetes", "var/run/secrets/kubernetes.io", "kubepods"},
     {"containerd", "", "containerd"},
     {"lxc", "dev/lxd", "/lxc"}}};
Text container(const SystemFiles& files) {
  const std::string groups = files.read("proc/self/cgroup").value_or("");
  for (const auto& hint : kContainerHints) {
    if (!hint.file.empty() && files.exists(hint.file)) return std::string(hint.runtime);
    if (groups.find(hint.group) != std::string::npos) return std::string(hint.runtime);
  }
  return Text::missing("no sign of a container");
}

Text virtualization(const SystemFiles& files, const CpuInfo& cpu) {
  const auto vendor = files.read_trimmed("sys/class/dmi/id/sys_vendor");
  const auto product = files.read_trimmed("sys/class/dmi/id/product_name");
  const auto type = files.read_trimmed("sys/hypervisor/type");
  if (type && !type->empty()) return *type;
  if (!cpu.virtualized()) return Text::missing("no hypervisor flag");
  const std::string name = std::string(trim(vendor.value_or("") + " " + product.value_or("")));
  return name.empty() ? "hypervisor of unknown kind" : name;
}

// "time:[4026531834]"
Maybe<std::int64_t> namespace_inode(const SystemFiles& files, const std::string& kind) {
  const std::string link = files.link_target("proc/self/ns/" + kind).value_or("");
  const std::size_t open = link.find('['), close = link.find(']');
  const auto inode = open == std::string::npos || close == std::string::npos
                         ? std::nullopt
                         : parse_int(std::string_view(link).substr(open + 1, close - open - 1));
  return {inode ? std::optional<std::int64_t>(*inode) : std::nullopt, "the kernel has no such namespace"};
}

Json os_json(const SystemFiles& files, const CpuInfo& cpu) {
  Json os;
  put(os, "kernel", line_of(files, "proc/sys/kernel/osrelease"));
  put(os, "kernel_version", line_of(files, "proc/sys/kernel/version"));
  put(os, "distribution", distribution(files));
  os["glibc"] = ::gnu_get_libc_version();
  const auto allocator = other_allocator();
  os["allocator"] = allocator.empty() ? "glibc" : allocator;
  put(os, "container", container(files));
  put(os, "virtualization", virtualization(files, cpu));
  put(os, "address_randomization", line_of(files, "proc/sys/kernel/randomize_va_space"));
  put(os, "host_sha256_16", host_digest(files));
  return os;
}

Json clock_json(const SystemFiles& files) {
  const std::string folder = "sys/devices/system/clocksource/clocksource0/";
  Json clock;
  put(clock, "source", line_of(files, folder + "current_clocksource"));
  clock["available"] = words_of(files.read(folder + "available_clocksource").value_or(""));
  put(clock, "time_namespace", namespace_inode(files, "time"));
  return clock;
}

Json load_json(const SystemFiles& files) {
  const auto words = words_of(files.read("proc/loadavg").value_or(""));
  Json load;
  const std::array<const char*, 3> keys{"average_1m", "average_5m", "average_15m"};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    put(load, keys[i], Number(i < words.size() ? parse_double(words[i]) : std::nullopt, "no /proc/loadavg"));
  }
  return load;
}

Text binary_digest(const std::filesystem::path& binary) {
  try {
    return sha256_file(binary);
  } catch (const Error& error) {
    return Text::missing(error.what());
  }
}

// Where there is no sign of a GPU, that is the reason, and no library is opened.
NvidiaDriver nvidia_driver(const EnvironmentSource& source) {
  if (const auto absent = no_nvidia_device_reason(source.files); !absent.empty())
    return {Text::missing(absent), Text::missing(absent), {}};
  return read_nvidia_driver(source.nvml);
}

}  // namespace

Maybe<std::string> host_digest(const SystemFiles& files) {
  const Text name = line_of(files, "proc/sys/kernel/hostname");
  return name ? Text(sha256_hex(*name).substr(0, 16)) : name;
}

Json to_json(const CpuInfo& cpu) {
  Json out;
  put(out, "model", cpu.model), put(out, "vendor", cpu.vendor), put(out, "microcode", cpu.microcode);
  put(out, "family", cpu.family), put(out, "model_number", cpu.model_number),
      put(out, "stepping", cpu.stepping);
  put(out, "sockets", cpu.sockets), put(out, "cores_physical", cpu.cores),
      put(out, "threads_per_core", cpu.threads_per_core);
  out["cores_online"] = cpu.online.size();
  out["cores_allowed"] = allowed_cpu_count(cpu);
  out["cpus_online"] = format_cpu_list(cpu.online);
  out["affinity"] = format_cpu_list(cpu.affinity);
  put(out, "cgroup_quota_cpus", cpu.cgroup_quota_cpus);
  out["isa"] = cpu.isa;
  out["flags"] = cpu.timing_flags;
  put(out, "governor", cpu.governor), put(out, "frequency_driver", cpu.frequency_driver),
      put(out, "turbo", cpu.turbo);
  put(out, "numa_nodes", cpu.numa_nodes), put(out, "llc_bytes", cpu.llc_bytes);
  out["mitigations"] = cpu.mitigations;
  return out;
}

Json to_json(const MemoryInfo& memory) {
  Json out;
  put(out, "total_bytes", memory.total_bytes), put(out, "available_bytes", memory.available_bytes);
  put(out, "cgroup_limit_bytes", memory.cgroup_limit_bytes);
  put(out, "swap_total_bytes", memory.swap_total_bytes), put(out, "swap_free_bytes", memory.swap_free_bytes);
  put(out, "hugepages_total", memory.hugepages_total), put(out, "hugepages_free", memory.hugepages_free);
  put(out, "hugepage_size_bytes", memory.hugepage_size_bytes);
  put(out, "transparent_hugepages", memory.transparent_hugepages);
  put(out, "transparent_hugepages_defrag", memory.transparent_hugepages_defrag);
  return out;
}

Json to_json(const NvidiaDriver& driver) {
  Json out;
  put(out, "driver_version", driver.version), put(out, "newest_cuda", driver.cuda_version);
  out["gpus"] = Json::array();
  for (const auto& gpu : driver.gpus) {
    Json one;
    put(one, "name", gpu.name), put(one, "uuid", gpu.uuid), put(one, "pci_bus_id", gpu.pci_bus_id);
    put(one, "memory_bytes", gpu.memory_bytes);
    out["gpus"].push_back(one);
  }
  return out;
}

Json to_json(const GpuCondition& gpu) {
  Json out;
  put(out, "power_limit_w", gpu.power_limit_w), put(out, "default_power_limit_w", gpu.default_power_limit_w);
  put(out, "max_sm_mhz", gpu.max_sm_mhz), put(out, "application_sm_mhz", gpu.application_sm_mhz);
  put(out, "default_application_sm_mhz", gpu.default_application_sm_mhz);
  put(out, "ecc", gpu.ecc), put(out, "uncorrected_errors", gpu.uncorrected_errors);
  put(out, "pcie_generation", gpu.pcie_generation), put(out, "max_pcie_generation", gpu.max_pcie_generation);
  put(out, "pcie_width", gpu.pcie_width), put(out, "max_pcie_width", gpu.max_pcie_width);
  put(out, "mig", gpu.mig), put(out, "persistence", gpu.persistence);
  put(out, "processes", gpu.processes), put(out, "memory_used_bytes", gpu.memory_used_bytes);
  return out;
}

Environment recorded_variables(Environment variables) {
  std::erase_if(variables, [](const auto& one) { return !is_recorded(one.first); });
  return variables;
}

namespace {

// Facts of each GPU, and its state now.
Json nvidia_json(const EnvironmentSource& source) {
  const auto driver = nvidia_driver(source);
  auto out = to_json(driver);
  if (driver.gpus.empty()) return out;
  const auto conditions = read_gpu_conditions(source.nvml);
  for (std::size_t i = 0; i < std::min(driver.gpus.size(), conditions.size()); ++i)
    out["gpus"][i].update(to_json(conditions[i]));
  return out;
}

}  // namespace

Json capture_environment(const std::string& command_line, const EnvironmentSource& given) {
  EnvironmentSource source = given;
  if (source.affinity.empty()) source.affinity = current_affinity();
  const CpuInfo cpu = read_cpu(source.files, source.affinity);
  Json environment;
  environment["cpu"] = to_json(cpu);
  environment["memory"] = to_json(read_memory(source.files));
  environment["nvidia"] = nvidia_json(source);
  environment["os"] = os_json(source.files, cpu);
  environment["clock"] = clock_json(source.files);
  environment["load"] = load_json(source.files);
  environment["variables"] = recorded_variables(source.variables ? *source.variables : own_environment());
  environment["command_line"] = command_line;
  put(environment, "binary_sha256", binary_digest(source.binary));
  return environment;
}

}  // namespace paceline::host
