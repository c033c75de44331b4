// SPDX-License-Identifier: MIT
// Sources in /proc and /sys. Names and label values are those of Prometheus' node exporter where it has them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/rapl.h"
#include "base/text.h"
#include "host/machine/memory.h"
#include "monitor/source.h"

namespace paceline::monitor {
namespace {

using host::SystemFiles;
using host::words_of;

double number(const std::string& word) {
  return static_cast<double>(parse_int(word).value_or(0));
}

std::vector<std::string> lines_of(const SystemFiles& files, const char* path) {
  return split(files.read(path).value_or(""), '\n');
}

class OfFiles : public Source {
 public:
  explicit OfFiles(SystemFiles files) : files_(std::move(files)) {}

 protected:
  [[nodiscard]] const SystemFiles& files() const { return files_; }

 private:
  SystemFiles files_;
};

// Guest time is inside user and nice already.
class CpuSource : public OfFiles {
 public:
  using OfFiles::OfFiles;
  void read(Snapshot& into) override {
    for (const auto& line : lines_of(files(), "proc/stat")) add_cpu(words_of(line), into);
    if (!into.find(kSeconds)) into.absent.emplace_back("CPUs: /proc/stat is not readable");
    const auto load = words_of(files().read("proc/loadavg").value_or(""));
    if (const auto one = load.empty() ? std::nullopt : parse_double(load[0]))
      into.add("paceline_load1", "Load average of one minute.", {}, *one);
  }

 private:
  static constexpr std::string_view kCpuLabel = "cpu";
  static constexpr const char* kSeconds = "paceline_cpu_seconds_total";
  static constexpr std::array kModes{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"};

  void add_cpu(const std::vector<std::string>& words, Snapshot& into) const {
    if (words.size() < 5 || !words[0].starts_with(kCpuLabel) || words[0].size() == kCpuLabel.size()) return;
    const auto cpu = words[0].substr(kCpuLabel.size());
    for (std::size_t i = 0; i < kModes.size() && i + 1 < words.size(); ++i)
      into.add(kSeconds, "Seconds that a CPU spent in each mode.",
               {{std::string(kCpuLabel), cpu}, {"mode", kModes[i]}},
               number(words[i + 1]) / static_cast<double>(::sysconf(_SC_CLK_TCK)));
    if (const auto khz =
            files().read_int(fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu)))
      into.add("paceline_cpu_frequency_hertz", "Current clock of a CPU.", {{"cpu", cpu}},
               static_cast<double>(*khz) * 1e3);
  }
};

class MemorySource : public OfFiles {
 public:
  using OfFiles::OfFiles;
  void read(Snapshot& into) override {
    const auto memory = host::read_memory(files());
    const auto add = [&](const char* name, const char* help, const Count& bytes) {
      if (bytes) into.add(name, help, {}, static_cast<double>(*bytes));
    };
    add("paceline_memory_total_bytes", "Memory of the machine.", memory.total_bytes);
    add("paceline_memory_available_bytes", "Memory that programs can get without swapping.",
        memory.available_bytes);
    add("paceline_memory_limit_bytes", "Limit of the control group.", memory.cgroup_limit_bytes);
    add("paceline_memory_swap_free_bytes", "Free swap space.", memory.swap_free_bytes);
    add("paceline_memory_swap_total_bytes", "Swap space.", memory.swap_total_bytes);
  }
};

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345": microseconds in which some task waited.
class PressureSource : public OfFiles {
 public:
  using OfFiles::OfFiles;
  void read(Snapshot& into) override {
    for (const char* what : {"cpu", "memory", "io"})
      for (const auto& line : lines_of(files(), fmt::format("proc/pressure/{}", what).c_str()))
        if (const auto at = line.find("total="); line.starts_with("some ") && at != std::string::npos)
          into.add("paceline_pressure_waiting_seconds_total", "Seconds in which some task waited for it.",
                   {{"resource", what}}, number(line.substr(at + 6)) * 1e-6);
  }
};

class NetworkSource : public OfFiles {
 public:
  using OfFiles::OfFiles;
  void read(Snapshot& into) override {
    for (auto line : lines_of(files(), "proc/net/dev")) {
      const auto colon = line.find(':');
      if (colon == std::string::npos) continue;
      line[colon] = ' ';
      const auto words = words_of(line);
      if (words.size() < 17) continue;
      const Labels device{{"device", words[0]}};
      into.add("paceline_network_receive_bytes_total", "Bytes received.", device, number(words[1]));
      into.add("paceline_network_receive_drop_total", "Packets dropped while receiving.", device,
               number(words[4]));
      into.add("paceline_network_transmit_bytes_total", "Bytes sent.", device, number(words[9]));
      into.add("paceline_network_transmit_drop_total", "Packets dropped while sending.", device,
               number(words[12]));
    }
  }
};

// Whole disks alone; the kernel counts sectors of 512 bytes whatever the disk has.
class DiskSource : public OfFiles {
 public:
  using OfFiles::OfFiles;
  void read(Snapshot& into) override {
    constexpr double kSector = 512;
    for (const auto& line : lines_of(files(), "proc/diskstats")) {
      const auto words = words_of(line);
      if (words.size() < 14 || words[2].starts_with("loop") || words[2].starts_with("ram") ||
          !files().exists("sys/block/" + words[2]))
        continue;
      const Labels device{{"device", words[2]}};
      into.add("paceline_disk_read_bytes_total", "Bytes read.", device, number(words[5]) * kSector);
      into.add("paceline_disk_written_bytes_total", "Bytes written.", device, number(words[9]) * kSector);
      into.add("paceline_disk_io_time_seconds_total", "Seconds in which the disk was busy.", device,
               number(words[12]) * 1e-3);
    }
  }
};

class EnergySource : public Source {
 public:
  explicit EnergySource(const SystemFiles& files) : folder_(files.path("sys/class/powercap")) {}
  void read(Snapshot& into) override {
    if (counters_.empty()) counters_ = rapl::counters(folder_);
    for (auto& counter : counters_)
      if (const auto joules = counter.joules())
        into.add("paceline_rapl_joules_total", "Energy by the counters of the CPU's power limits.",
                 {{"zone", counter.zone()}, {"name", counter.name()}}, *joules);
    if (const auto refusal = rapl::refusal(counters_); !refusal.empty())
      into.absent.push_back("CPU power: " + refusal);
  }

 private:
  std::filesystem::path folder_;
  std::vector<rapl::Counter> counters_;
};

}  // namespace

Sources machine_sources(const SystemFiles& files) {
  Sources all;
  all.push_back(std::make_unique<CpuSource>(files));
  all.push_back(std::make_unique<MemorySource>(files));
  all.push_back(std::make_unique<PressureSource>(files));
  all.push_back(std::make_unique<NetworkSource>(files));
  all.push_back(std::make_unique<DiskSource>(files));
  all.push_back(std::make_unique<EnergySource>(files));
  return all;
}

}  // namespace paceline::monitor
