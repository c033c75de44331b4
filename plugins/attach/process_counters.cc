// SPDX-License-Identifier: MIT
#include "attach/process_counters.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

namespace paceline::attach {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000, kShortest_ns = kSecond_ns / 10;
constexpr std::int64_t kCostOf = 1000;    // readings take one part in this many of the thread's time
constexpr std::int64_t kEarlyParts = 16;  // of the time so far between two readings, at first

std::string text_of(const std::string& path) {
  constexpr std::size_t kMost = 1 << 18;
  std::string text;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char chunk[4096];
  for (ssize_t got; text.size() < kMost && (got = ::read(file, chunk, sizeof chunk)) > 0;)
    text.append(chunk, static_cast<std::size_t>(got));
  ::close(file);
  return text;
}

// Takes the next number of a line away from it.
std::optional<std::uint64_t> take_number(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  std::uint64_t number = 0;
  const auto end = std::from_chars(line.data(), line.data() + line.size(), number);
  if (end.ec != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(end.ptr - line.data()));
  return number;
}

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

bool take_prefix(std::string_view& line, std::string_view prefix) {
  if (line.substr(0, prefix.size()) != prefix) return false;
  line.remove_prefix(prefix.size());
  return true;
}

std::int64_t thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * kSecond_ns + now.tv_nsec;
}

std::uint64_t ns_of(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond_ns +
         static_cast<std::uint64_t>(time.tv_usec) * 1000;
}

// The CPUs that this process may use.
std::vector<bool> allowed_cpus() {
  constexpr int kMostCpus = 8192;
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(kMostCpus),
                                                             [](cpu_set_t* one) { CPU_FREE(one); });
  const auto bytes = CPU_ALLOC_SIZE(kMostCpus);
  std::vector<bool> allowed;
  if (!set || ::sched_getaffinity(0, bytes, set.get()) != 0) return allowed;
  for (int cpu = 0; cpu < kMostCpus; ++cpu) allowed.push_back(CPU_ISSET_S(cpu, bytes, set.get()) != 0);
  return allowed;
}

// Ticks of one line of /proc/stat: "cpu0 user nice system idle iowait irq softirq steal guest guest_nice";
// guest time is inside user and nice.
struct Ticks {
  std::uint64_t busy = 0, stolen = 0, all = 0;
};
std::optional<Ticks> ticks_of(std::string_view line) {
  std::uint64_t at[8];
  for (auto& one : at) {
    const auto number = take_number(line);
    if (!number) return std::nullopt;
    one = *number;
  }
  const auto busy = at[0] + at[1] + at[2] + at[5] + at[6];
  return Ticks{busy, at[7], busy + at[3] + at[4] + at[7]};
}

// FNV-1a.
std::uint64_t hash_of(const std::vector<bool>& bits) {
  std::uint64_t hash = 14'695'981'039'346'656'037ULL;
  for (std::size_t i = 0; i < bits.size(); ++i)
    if (bits[i]) hash = (hash ^ i) * 1'099'511'628'211ULL;
  return hash;
}

}  // namespace

std::vector<ProcessCounters::Count> ProcessCounters::read(std::int64_t now_ns) try {
  const auto begin_ns = thread_cpu_ns();
  std::vector<Count> counts;
  read_threads(counts);
  read_usage(counts);
  read_cpus(counts);
  read_quota(counts);
  if (first_ns_ == 0) first_ns_ = now_ns;
  const auto early = std::max((now_ns - first_ns_) / kEarlyParts, kShortest_ns);
  next_ns_ = now_ns + std::max(std::min(early, kSecond_ns), kCostOf * (thread_cpu_ns() - begin_ns));
  return counts;
} catch (...) {
  next_ns_ = now_ns + kSecond_ns;
  return {};
}

void ProcessCounters::read_threads(std::vector<Count>& counts) {
  const std::string folder = root_ + "proc/self/task/";
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir(folder.c_str()), ::closedir);
  if (!tasks) return;
  const bool first = waits_.empty();
  std::vector<std::pair<int, std::uint64_t>> waits;
  std::uint64_t longest = 0;
  while (const auto* entry = ::readdir(tasks.get())) {
    std::string_view name(entry->d_name);
    const auto id = take_number(name);
    if (!id) continue;
    const auto text = text_of(folder + entry->d_name + "/schedstat");
    std::string_view line(text);
    const auto ran = take_number(line), waited = take_number(line);
    if (!ran || !waited) continue;
    waits.emplace_back(static_cast<int>(*id), *waited);
    const auto then = std::find_if(waits_.begin(), waits_.end(),
                                   [&](const auto& one) { return one.first == waits.back().first; });
    longest = std::max(longest, *waited - std::min(*waited, then == waits_.end() ? 0 : then->second));
  }
  waits_ = std::move(waits);
  if (!waits_.empty()) counts.push_back({StepCounter::kRunQueueWait, first ? 0 : longest});
}

void ProcessCounters::read_usage(std::vector<Count>& counts) const {
  timespec cpu{};
  rusage use{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0)
    counts.push_back({StepCounter::kCpuTime, static_cast<std::uint64_t>(cpu.tv_sec) * kSecond_ns +
                                                 static_cast<std::uint64_t>(cpu.tv_nsec)});
  if (::getrusage(RUSAGE_SELF, &use) != 0) return;
  counts.push_back({StepCounter::kSystemTime, ns_of(use.ru_stime)});
  counts.push_back({StepCounter::kMinorFaults, static_cast<std::uint64_t>(use.ru_minflt)});
  counts.push_back({StepCounter::kMajorFaults, static_cast<std::uint64_t>(use.ru_majflt)});
}

void ProcessCounters::read_cpus(std::vector<Count>& counts) const {
  const auto allowed = allowed_cpus();
  const auto text = text_of(root_ + "proc/stat");
  std::string_view rest(text);
  Ticks sum;
  std::size_t seen = 0;
  for (auto line = take_line(rest); take_prefix(line, "cpu"); line = take_line(rest)) {
    const auto cpu = line.substr(0, 1) == " " ? std::nullopt : take_number(line);
    if (!cpu || *cpu >= allowed.size() || !allowed[*cpu]) continue;
    const auto ticks = ticks_of(line);
    if (!ticks) return;
    sum.busy += ticks->busy, sum.stolen += ticks->stolen, sum.all += ticks->all, ++seen;
  }
  const auto tick_ns = static_cast<std::uint64_t>(kSecond_ns / std::max(1L, ::sysconf(_SC_CLK_TCK)));
  if (seen == 0) return;
  counts.push_back({StepCounter::kBusyCpus, sum.busy * tick_ns});
  counts.push_back({StepCounter::kStolenCpus, sum.stolen * tick_ns});
  counts.push_back({StepCounter::kAllCpus, sum.all * tick_ns});
  counts.push_back({StepCounter::kCpuSet, hash_of(allowed)});
}

// "0::/user.slice" in proc/self/cgroup names the group of cgroup v2.
void ProcessCounters::read_quota(std::vector<Count>& counts) const {
  const auto groups = text_of(root_ + "proc/self/cgroup");
  std::string path;
  for (std::string_view rest(groups); !rest.empty();)
    if (auto line = take_line(rest); take_prefix(line, "0::/")) path = line;
  const auto text = text_of(root_ + "sys/fs/cgroup/" + path + "/cpu.stat");
  for (std::string_view rest(text); !rest.empty();)
    if (auto line = take_line(rest); take_prefix(line, "throttled_usec "))
      if (const auto us = take_number(line)) counts.push_back({StepCounter::kThrottled, *us * 1000});
}

}  // namespace paceline::attach
