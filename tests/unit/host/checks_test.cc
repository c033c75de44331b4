// SPDX-License-Identifier: MIT
#include "host/checks/checks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>

#include "answer/render/answer_forms.h"
#include "base/file.h"
#include "host/checks/host_checks.h"
#include "host/machine/cpu.h"
#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

constexpr std::int64_t kGiB = 1LL << 30;

// Facts a test can change; by default a fit machine of two CPUs.
struct CheckedMachine {
  FakeTree tree;
  HostCheckOptions options;
  double foreign_cores = 0;
  double seconds = 0, busy = 0;

  std::string script = (temp_dir() / fmt::format("checks-{}", ::getpid())).string();

  ~CheckedMachine() {
    ::unsetenv("FAKE_NVML");
    std::remove(script.c_str());
  }
  CheckedMachine() {
    tree.file("proc/cpuinfo", "model name\t: AMD EPYC\nflags\t: avx2 avx512f avx512_bf16\n");
    tree.file("sys/devices/system/cpu/online", "0-1\n");
    tree.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    tree.file("proc/meminfo",
              "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
    tree.file("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    tree.file("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    tree.file("proc/sys/kernel/randomize_va_space", "2\n").file("proc/loadavg", "0.10 0.2 0.3 1/9 9\n");
    tree.link("proc/self/ns/time", "time:[4026531834]").folder("dev/shm");
    tree.file("dev/nvidiactl", "").file("dev/kmsg", "6,1,2,-;usb 1-1: new device\n");
    write_file_atomic(script, "* CurrentClocksEventReasons 0x1\n");
    ::setenv("FAKE_NVML", script.c_str(), 1);
    tree.file("sys/class/powercap/intel-rapl:0/name", "package-0\n");
    tree.file("sys/class/powercap/intel-rapl:0/energy_uj", "77\n");
    options.powercap = tree.files().path("sys/class/powercap");
    tree.file("proc/sys/kernel/hostname", "node0\n");
    options.network = {[](timex*) { return TIME_OK; },
                       [](const auto&) { return std::vector<std::string>{"10.0.0.1"}; },
                       [](int) { return true; }};
    options.port = 29500;
    options.nvml = FAKE_NVML;
    options.files = tree.files();
    options.affinity = {0, 1};
    options.space = [](const auto&) { return DiskSpace{16 * kGiB, 16 * kGiB}; };
    options.disk = [](const auto&, auto) { return DiskSpeed{{}, 5e8, 2e9}; };
    options.seams.sample = [this] {
      return CpuUse{
          static_cast<std::int64_t>(seconds * 1e9), 0, 10'000'000,
          CpuTicks{static_cast<std::int64_t>(busy), 0, static_cast<std::int64_t>(seconds * 200), 2}};
    };
    options.seams.sleep = [this](double s) {
      seconds += s;
      busy += foreign_cores * s * 100;
      return true;
    };
  }
  [[nodiscard]] std::vector<CheckedRow> rows() const { return run_checks(host_checks(options)); }
  [[nodiscard]] CheckResult row(const std::string& name) const {
    for (const auto& one : rows()) {
      if (one.name == name) return one.result;
    }
    throw std::runtime_error("no row " + name);
  }
};

TEST(HostChecks, FitMachinePassesEveryRow) {
  const CheckedMachine machine;
  const auto rows = machine.rows();
  std::set<std::string> names;
  for (const auto& row : rows) {
    EXPECT_EQ(row.result.status, Verdict::kYes) << row.name << ": " << row.result.text;
    EXPECT_FALSE(row.result.text.empty()) << row.name;
    EXPECT_TRUE(row.result.fix.empty()) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
  EXPECT_EQ(rows.size(), 26U);
  EXPECT_EQ(verdict_line(rows), "nothing to complain about: fit for multi-rank training and inference");
}

TEST(HostChecks, EnergyCountersAreNamed) {
  CheckedMachine machine;
  EXPECT_EQ(machine.row("CPU energy").text, "energy counters of package-0");
  machine.options.powercap = "/not/there";
  EXPECT_EQ(machine.row("CPU energy").status, Verdict::kNotAsked);
  EXPECT_EQ(machine.row("CPU energy").text, "this machine has no energy counters (RAPL)");
}

TEST(HostChecks, BareMachineNeverFailsNorThrows) {
  const FakeTree bare;
  CheckedMachine machine;
  machine.options.files = bare.files();
  for (const auto& row : machine.rows()) {
    EXPECT_NE(row.result.status, Verdict::kNo) << row.name << ": " << row.result.text;
    if (row.result.status == Verdict::kReservedly) {
      EXPECT_FALSE(row.result.fix.empty()) << row.name;
    }
  }
}

TEST(HostChecks, TextsCarryTheFacts) {
  const CheckedMachine machine;
  EXPECT_EQ(machine.row("cpu").text, "AMD EPYC: AVX-512 bf16, AVX-512, AVX2");
  EXPECT_EQ(machine.row("cores").text, "2 CPUs online, no cgroup limit");
  EXPECT_EQ(machine.row("frequency").text, "governor performance");
  EXPECT_EQ(machine.row("GPUs").text,
            "driver 580.65.06, CUDA up to 13.0; 0: NVIDIA H200 151 GB; 1: NVIDIA H200");
  EXPECT_EQ(machine.row("GPU state").text,
            "0: 700 W, up to 1980 MHz, ECC on, PCIe x16; 1: 700 W, up to 1980 MHz, ECC on, PCIe x16");
  EXPECT_EQ(machine.row("GPU links").text, "all pairs over NVLink, 18 links each");
  EXPECT_EQ(machine.row("rendezvous port").text, "port 29500 is free");
  EXPECT_EQ(machine.row("output folder").text, "results has 17.2 GB free, writes 500 MB/s, reads 2.00 GB/s");
  EXPECT_EQ(machine.row("neighbours").text, "neighbours used 0.00 of 2 CPUs in 2 s, load 0.10");
}

TEST(HostChecks, AGpuWhoseDriverDoesNotAnswerWarns) {
  CheckedMachine machine;
  machine.options.nvml = "libpaceline-no-such.so.1";
  EXPECT_EQ(machine.row("GPUs").status, Verdict::kReservedly);
  EXPECT_NE(machine.row("GPUs").text.find("cannot be opened"), std::string::npos);
}

TEST(HostChecks, QuotaBelowTheCpusWarnsWithAThreadCount) {
  CheckedMachine machine;
  machine.tree.file("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  machine.tree.file("proc/self/cgroup", "0::/\n").file("sys/fs/cgroup/cpu.max", "150000 100000\n");
  const auto row = machine.row("cores");
  EXPECT_EQ(row.status, Verdict::kReservedly);
  EXPECT_EQ(row.text, "2 CPUs online, cgroup allows 1.50");
  EXPECT_NE(row.fix.find("--threads 1 "), std::string::npos) << row.fix;
  EXPECT_EQ(allowed_cpu_count(read_cpu(machine.options.files, {0, 1})), 1)
      << "the default is what is advised";
  machine.tree.file("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_NE(machine.row("cores").fix.find("even one thread"), std::string::npos);
  machine.tree.file("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(machine.row("cores").status, Verdict::kYes);
}

TEST(HostChecks, NoCpufreqWarns) {
  CheckedMachine machine;
  machine.options.affinity = {0, 1};
  machine.tree.file("sys/devices/system/cpu/online", "1\n");  // CPU 1 has no policy
  const auto row = machine.row("frequency");
  EXPECT_EQ(row.status, Verdict::kReservedly);
  EXPECT_EQ(row.text, "no cpufreq: clocks cannot be seen or fixed here");
  EXPECT_EQ(row.fix, "compare only interleaved runs");
}

TEST(HostChecks, NeighboursWarnAboveFivePercent) {
  CheckedMachine machine;
  machine.foreign_cores = 0.1;
  EXPECT_EQ(machine.row("neighbours").status, Verdict::kYes);
  machine.foreign_cores = 0.2;
  EXPECT_EQ(machine.row("neighbours").status, Verdict::kReservedly);
  machine.foreign_cores = 1.0;
  EXPECT_NE(machine.row("neighbours").fix.find("grade C"), std::string::npos);
}

TEST(HostChecks, SmallSharedMemoryFailsOnlyWhenRanksAreAskedFor) {
  CheckedMachine machine;
  machine.options.space = [](const auto&) { return DiskSpace{64 << 20, 64 << 20}; };
  EXPECT_EQ(machine.row("shared memory").status, Verdict::kReservedly);
  machine.options.ranks = 2;
  const auto row = machine.row("shared memory");
  EXPECT_EQ(row.status, Verdict::kNo);
  EXPECT_EQ(row.text, "/dev/shm has 67.1 MB, 2 ranks × 4 workers need 537 MB");
  EXPECT_EQ(row.fix, "docker run --shm-size=1g");
}

TEST(HostChecks, SlowClockSwapAndForeignTimeNamespaceWarn) {
  CheckedMachine machine;
  machine.tree.file("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  machine.tree.file("proc/meminfo", "MemAvailable: 2000000 kB\nSwapTotal: 1000 kB\nSwapFree: 400 kB\n");
  machine.tree.file("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
  for (const char* name : {"clock", "swap", "memory", "huge pages"}) {
    EXPECT_EQ(machine.row(name).status, Verdict::kReservedly) << name;
    EXPECT_FALSE(machine.row(name).fix.empty()) << name;
  }
  FakeTree other;
  other.link("proc/self/ns/time", "time:[4026532999]");
  machine.options.files = other.files();
  EXPECT_EQ(machine.row("time namespace").status, Verdict::kReservedly);
}

TEST(HostChecks, OutputFolderMustBeWritableAndHaveRoom) {
  CheckedMachine machine;
  machine.options.disk = [](const auto&, auto) { return DiskSpeed{"Read-only file system", {}, {}}; };
  EXPECT_EQ(machine.row("output folder").status, Verdict::kNo);
  EXPECT_EQ(machine.row("output folder").text, "results cannot be written: Read-only file system");
  machine.options.disk = [](const auto&, auto) { return DiskSpeed{{}, 5e8, 2e9}; };
  const std::map<std::int64_t, Verdict> expected{
      {10 << 20, Verdict::kNo}, {500 << 20, Verdict::kReservedly}, {2 * kGiB, Verdict::kYes}};
  for (const auto& [bytes, status] : expected) {
    machine.options.space = [free = bytes](const auto&) { return DiskSpace{100 * kGiB, free}; };
    EXPECT_EQ(machine.row("output folder").status, status) << bytes;
  }
}

TEST(HostChecks, DiskSpaceUsesTheNearestExistingParent) {
  const auto here = disk_space(testing::TempDir());
  const auto below = disk_space(std::filesystem::path(testing::TempDir()) / "not" / "there" / "yet");
  ASSERT_TRUE(here && below);
  EXPECT_GT(here->total_bytes, 0);
  EXPECT_EQ(here->total_bytes, below->total_bytes);
}

std::vector<CheckedRow> rows_of(std::vector<std::pair<Verdict, std::vector<Purpose>>> list) {
  std::vector<CheckedRow> rows;
  rows.reserve(list.size());
  for (auto& [status, needed_by] : list) rows.push_back({"row", needed_by, {status, "text", "fix"}});
  return rows;
}

TEST(Checks, VerdictNamesWhatTheMachineIsFitFor) {
  const std::vector<Purpose> both{Purpose::kInference, Purpose::kMultiRankTraining};
  const auto mixed = rows_of({{Verdict::kNo, {Purpose::kMultiRankTraining}}, {Verdict::kReservedly, both}});
  EXPECT_EQ(verdict_line(mixed), "1 failed, 1 warning: not fit for multi-rank training, fit for inference");
  EXPECT_EQ(answer::exit_code_of(answer_of(mixed)), ExitCode::kEnvironmentInvalid);
  const auto warned =
      rows_of({{Verdict::kReservedly, both}, {Verdict::kReservedly, both}, {Verdict::kNotAsked, both}});
  EXPECT_EQ(verdict_line(warned), "2 warnings: fit for multi-rank training and inference");
  EXPECT_EQ(answer::exit_code_of(answer_of(warned)), ExitCode::kOk);
  const auto failed = rows_of({{Verdict::kNo, both}});
  EXPECT_EQ(verdict_line(failed), "1 failed: not fit for multi-rank training or inference");
}

TEST(Checks, AThrowingRowFailsAndTheOthersStillRun) {
  const std::vector<Check> checks{
      {"bad", {Purpose::kInference}, []() -> CheckResult { throw std::runtime_error("boom"); }},
      {"good", {}, [] {
         return CheckResult{Verdict::kYes, "fine", ""};
       }}};
  const auto rows = run_checks(checks);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].result.status, Verdict::kNo);
  EXPECT_EQ(rows[0].result.text, "could not be checked: boom");
  EXPECT_EQ(rows[1].result.status, Verdict::kYes);
}

TEST(Checks, JsonHoldsEveryRowAndTheVerdict) {
  const auto json = answer::json_of(
      answer_of(rows_of({{Verdict::kNo, {Purpose::kMultiRankTraining}}, {Verdict::kNotAsked, {}}})));
  EXPECT_EQ(json["failed"], 1);
  EXPECT_EQ(json["warnings"], 0);
  EXPECT_EQ(json["fit_for"], nlohmann::json::array({"inference"}));
  ASSERT_EQ(json["checks"].size(), 2U);
  EXPECT_EQ(json["checks"][0],
            nlohmann::json({{"name", "row"}, {"status", "FAIL"}, {"text", "text"}, {"fix", "fix"}}));
  EXPECT_EQ(json["checks"][1]["status"], "SKIP");
}

}  // namespace
}  // namespace paceline::host
