// SPDX-License-Identifier: MIT
#include "nsight/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/display_text.h"
#include "base/error.h"
#include "base/foreign_text.h"
#include "base/units.h"
#include "nsight/kernel_findings.h"

namespace paceline::nsight {

using answer::Finding;
namespace {

using Span = std::pair<std::int64_t, std::int64_t>;
using Spans = std::vector<Span>;  // apart from each other and in order once united

Spans united(Spans spans) {
  std::ranges::sort(spans);
  Spans result;
  for (const auto& [start, end] : spans)
    if (!result.empty() && start <= result.back().second)
      result.back().second = std::max(result.back().second, end);
    else if (end > start)
      result.emplace_back(start, end);
  return result;
}

using Place = std::pair<std::int64_t, std::int64_t>;  // process and device
Place place_of(const Activity& one) {
  return {one.process, one.device};
}

double length_of(const Spans& spans) {
  double sum = 0;
  for (const auto& [start, end] : spans) sum += static_cast<double>(end - start);
  return sum;
}

Spans common(const Spans& a, const Spans& b) {
  Spans both;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    const auto start = std::max(a[i].first, b[k].first), end = std::min(a[i].second, b[k].second);
    if (start < end) both.emplace_back(start, end);
    a[i].second < b[k].second ? ++i : ++k;
  }
  return both;
}

template <class Activities, class Wanted>
Spans spans_of(const Activities& all, Wanted wanted) {
  Spans spans;
  for (const auto* one : all)
    if (wanted(*one)) spans.emplace_back(one->start, one->end);
  return united(std::move(spans));
}

bool is_nccl(const Kernel& kernel) {
  return kernel.name.find("ncclDevKernel") != std::string::npos ||
         kernel.name.find("ncclKernel") != std::string::npos;
}

// The work of one device of one process.
struct Work {
  std::vector<const Kernel*> kernels{};
  std::vector<const Copy*> copies{};
  std::vector<const Activity*> graphs{}, fills{};

  [[nodiscard]] bool only_fills() const { return kernels.empty() && copies.empty() && graphs.empty(); }
};
using WorkByPlace = std::map<Place, Work>;

WorkByPlace work_of(const NsysFile& file, const std::string& source) {
  WorkByPlace all;
  for (const auto& one : file.kernels) all[place_of(one)].kernels.push_back(&one);
  for (const auto& one : file.copies) all[place_of(one)].copies.push_back(&one);
  for (const auto& one : file.graphs) all[place_of(one)].graphs.push_back(&one);
  for (const auto& one : file.fills) all[place_of(one)].fills.push_back(&one);
  std::erase_if(all, [](const auto& one) { return one.second.only_fills(); });
  if (all.size() > kNsightPlaces)
    throw Error(ErrorCode::kData, fmt::format("{}: it has {} devices of processes; at most {} are read",
                                              shown_path(source), all.size(), kNsightPlaces));
  return all;
}

// Idle time that ended with an activity for which the host's call had not ended when the device fell idle:
// until it did, the device waited for the host.
Spans late_spans(const Work& work) {
  std::vector<const Activity*> all(work.graphs.begin(), work.graphs.end());
  all.insert(all.end(), work.fills.begin(), work.fills.end());
  all.insert(all.end(), work.kernels.begin(), work.kernels.end());
  all.insert(all.end(), work.copies.begin(), work.copies.end());
  std::ranges::sort(all, {}, &Activity::start);
  Spans late;
  std::int64_t done = all.empty() ? 0 : all.front()->start;
  for (const auto* one : all) {
    if (one->start > done && one->asked) late.emplace_back(done, std::clamp(*one->asked, done, one->start));
    done = std::max(done, one->end);
  }
  return united(std::move(late));
}

// The host's calls of one process, united: calls of several threads at once count once a name.
struct Calls {
  std::map<std::string, Spans> by_name{};
  Spans all{};
};

Calls calls_of(const NsysFile& file, std::int64_t process) {
  Calls calls;
  for (const auto& call : file.calls)
    if (call.process == 0 || process == 0 || call.process == process) {
      calls.by_name[call.name].emplace_back(call.start, call.end);
      calls.all.emplace_back(call.start, call.end);
    }
  for (auto& [name, spans] : calls.by_name) spans = united(std::move(spans));
  calls.all = united(std::move(calls.all));
  return calls;
}

// Host calls by their time within these spans, longest first; "" is time outside of calls.
std::vector<HostCall> host_in(const Calls& calls, const Spans& spans) {
  std::vector<HostCall> found;
  if (calls.by_name.empty() || spans.empty()) return found;
  for (const auto& [name, of_name] : calls.by_name)
    if (const auto ns = length_of(common(of_name, spans)); ns > 0) found.push_back({name, ns});
  const auto outside = length_of(spans) - length_of(common(calls.all, spans));
  if (outside > 0) found.push_back({"", outside});
  std::ranges::stable_sort(found, std::ranges::greater{}, &HostCall::ns);
  return found;
}

Spans united(const Spans& a, const Spans& b) {
  Spans both = a;
  both.insert(both.end(), b.begin(), b.end());
  return united(std::move(both));
}

// Nothing for a device that did nothing that takes time.
std::optional<DeviceTimeline> timeline_of(Place place, const Work& work, const Calls& calls) {
  const auto any = [](const Activity&) { return true; };
  const auto graphs = spans_of(work.graphs, any);
  const auto kernels = united(spans_of(work.kernels, any), graphs);
  const auto busy = united(united(spans_of(work.copies, any), spans_of(work.fills, any)), kernels);
  if (busy.empty()) return std::nullopt;
  const auto nccl = spans_of(work.kernels, is_nccl);
  const auto others = united(spans_of(work.kernels, [](const Kernel& k) { return !is_nccl(k); }), graphs);
  DeviceTimeline line;
  line.process = place.first, line.device = place.second;
  line.span_ns = static_cast<double>(busy.back().second - busy.front().first);
  line.busy_ns = length_of(busy), line.kernels_ns = length_of(kernels);
  const auto late = late_spans(work);
  line.late_host_ns = length_of(late);
  line.late_in = host_in(calls, late);
  line.nccl_kernels = static_cast<std::size_t>(
      std::ranges::count_if(work.kernels, [](const Kernel* k) { return is_nccl(*k); }));
  line.nccl_ns = length_of(nccl), line.nccl_hidden_ns = length_of(common(nccl, others));
  return line;
}

// Places are in the order of processes: calls of one are united once.
std::vector<DeviceTimeline> timelines_of(const NsysFile& file, const WorkByPlace& all) {
  std::vector<DeviceTimeline> lines;
  std::optional<std::int64_t> process;
  Calls calls;
  for (const auto& [place, work] : all) {
    if (process != place.first) calls = calls_of(file, place.first);
    process = place.first;
    if (auto line = timeline_of(place, work, calls)) lines.push_back(std::move(*line));
  }
  return lines;
}

constexpr std::array<std::pair<CopyKind, const char*>, 4> kDirections{
    {{CopyKind::kHostToDevice, "host to device"},
     {CopyKind::kDeviceToHost, "device to host"},
     {CopyKind::kDeviceToDevice, "within a device"},
     {CopyKind::kOther, "other"}}};

// Copies of one direction that overlap count once in times.
CopyFigures figures_of(const NsysFile& file, CopyKind kind, const char* direction, const WorkByPlace& all) {
  CopyFigures figures{direction};
  for (const auto& copy : file.copies) {
    if (copy.kind != kind) continue;
    ++figures.copies;
    figures.bytes += static_cast<double>(copy.bytes);
    if (copy.pageable) figures.pageable_bytes += static_cast<double>(copy.bytes);
  }
  const auto any = [](const Activity&) { return true; };
  for (const auto& [place, work] : all) {
    const auto copies = spans_of(work.copies, [&](const Copy& c) { return c.kind == kind; });
    if (copies.empty()) continue;
    figures.time_ns += length_of(copies);
    figures.hidden_ns +=
        length_of(common(copies, united(spans_of(work.kernels, any), spans_of(work.graphs, any))));
  }
  return figures;
}

std::vector<KernelFigures> kernels_of(const NsysFile& file) {
  std::map<std::string, KernelFigures> by_name;
  double all_ns = 0;
  for (const auto& kernel : file.kernels) {
    const auto ns = static_cast<double>(kernel.end - kernel.start);
    auto& figures = by_name[kernel.name];
    figures.name = kernel.name, ++figures.launches, figures.time_ns += ns, all_ns += ns;
  }
  std::vector<KernelFigures> all;
  for (auto& [name, figures] : by_name) {
    figures.share = all_ns > 0 ? figures.time_ns / all_ns : 0;
    all.push_back(std::move(figures));
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &KernelFigures::time_ns);
  return all;
}

// Work of a device and the time at which the host asked for it.
struct Asked {
  std::int64_t at = 0, process = 0;
  Span span;
};

std::vector<Asked> asked_work(const NsysFile& file) {
  std::vector<Asked> work;
  const auto add = [&](const auto& all) {
    for (const auto& one : all)
      if (one.asked) work.push_back({*one.asked, one.process, {one.start, one.end}});
  };
  add(file.kernels), add(file.copies), add(file.graphs), add(file.fills);
  std::ranges::sort(work, {}, &Asked::at);
  return work;
}

// Ranges of one name and process, both ends included, apart from each other: what overlaps is looked at once.
Spans apart(Spans ranges) {
  std::ranges::sort(ranges);
  Spans result;
  for (const auto& [start, end] : ranges)
    if (!result.empty() && start <= result.back().second)
      result.back().second = std::max(result.back().second, end);
    else
      result.emplace_back(start, end);
  return result;
}

// Time of the work that was asked for in the ranges of one name, by process. `visits` grows by what it looks
// at.
double device_ns_of(const std::map<std::int64_t, Spans>& by_process, const std::vector<Asked>& work,
                    std::size_t& visits) {
  Spans spans;
  for (const auto& [process, ranges] : by_process)
    for (const auto& [start, end] : apart(ranges))
      for (auto one = std::ranges::lower_bound(work, start, {}, &Asked::at);
           one != work.end() && one->at <= end && ++visits < kNsightVisits; ++one)
        if (process == 0 || one->process == 0 || one->process == process) spans.push_back(one->span);
  return length_of(united(std::move(spans)));
}

// The work of a device belongs to every range in which the host asked for it. Names whose work was not looked
// at to its end are left out.
std::vector<RangeFigures> ranges_of(const NsysFile& file, std::vector<std::string>& remarks) {
  const auto work = asked_work(file);
  std::vector<RangeFigures> all;
  std::vector<std::map<std::int64_t, Spans>> spans;
  std::unordered_map<std::string, std::size_t> by_name;
  for (const auto& range : file.ranges) {
    const auto [found, is_new] = by_name.try_emplace(range.name, all.size());
    if (is_new) all.push_back({range.name}), spans.emplace_back();
    auto& figures = all[found->second];
    ++figures.ranges;
    figures.host_ns += static_cast<double>(range.end) - static_cast<double>(range.start);
    spans[found->second][range.process].emplace_back(range.start, range.end);
  }
  std::size_t visits = 0, whole = 0;
  for (; whole < all.size() && visits < kNsightVisits; ++whole)
    all[whole].device_ns = device_ns_of(spans[whole], work, visits);
  if (visits < kNsightVisits) return all;
  remarks.push_back(fmt::format("ranges overlap too much: {} of {} names are left out",
                                all.size() - whole + 1, all.size()));
  all.resize(whole - 1);
  return all;
}

std::string in_percent(double share) {
  return format_percent(share, 0);
}

constexpr double kWorthSaying = 0.05;  // of the time of a device

// Advice if the host spends the time in a call with this in its name; the first match counts.
struct Cause {
  std::string_view part, advice;
};
constexpr std::array kCauses{
    Cause{"Synchronize", "fewer waits for the device: read losses and results later, or every tenth step"},
    Cause{"Malloc", "memory that is allocated before the loop, or from a pool"},
    Cause{"Free", "memory that is kept, or a pool"},
    Cause{"Memcpy", "--io pinned and --overlap; in training pin_memory and non_blocking=True"}};
constexpr std::string_view kOwnWork =
    "a graph (--cuda-graphs true), a larger batch, an engine that fuses kernels; fewer synchronisations in "
    "training";

std::string_view advice_for(const DeviceTimeline& line) {
  if (line.late_in.empty()) return kOwnWork;
  for (const auto& cause : kCauses)
    if (line.late_in.front().call.find(cause.part) != std::string::npos) return cause.advice;
  return kOwnWork;
}

// "; the host was outside of CUDA's calls in 60 % of that, in cudaMalloc in 40 %"
std::string host_words(const DeviceTimeline& line) {
  constexpr std::size_t kMost = 3;
  std::string words;
  for (const auto& [name, ns] : std::span(line.late_in).first(std::min(kMost, line.late_in.size())))
    words += fmt::format("{}{} in {}{}", words.empty() ? "; the host was " : ", ",
                         name.empty() ? "outside of CUDA's calls" : "in " + on_one_line(name),
                         in_percent(ns / line.late_host_ns), words.empty() ? " of that time" : "");
  return words;
}

constexpr const char* kAdviceOfTimeline = "advice";

void add_idle(const DeviceTimeline& line, std::vector<Finding>& into) {
  const double idle = (line.span_ns - line.busy_ns) / line.span_ns, late = line.late_host_ns / line.span_ns;
  if (late < kWorthSaying) return;
  into.push_back({"late_host", kAdviceOfTimeline,
                  fmt::format("{} waits for the host in {} of the time", name_of(line), in_percent(late)),
                  fmt::format("it is idle in {}; there the call for its next work had not returned yet{}",
                              in_percent(idle), host_words(line)),
                  std::string(advice_for(line))});
}

void add_copies(const CopyFigures& copies, double span_ns, std::vector<Finding>& into) {
  if (copies.time_ns <= 0 || copies.time_ns < kWorthSaying * span_ns) return;
  const auto evidence = fmt::format("{} in {}, {} of the time, {}/s",
                                    plural(static_cast<std::int64_t>(copies.copies), "transfer"),
                                    format_duration_ns(copies.time_ns), in_percent(copies.time_ns / span_ns),
                                    format_bytes(copies.bytes / copies.time_ns * 1e9));
  constexpr double kHalf = 0.5;
  if (copies.pageable_bytes > kHalf * copies.bytes)
    into.push_back({"pageable_copies", kAdviceOfTimeline,
                    fmt::format("copies {} use memory that is not pinned", copies.direction), evidence,
                    "--io pinned; in training pin_memory and non_blocking=True"});
  else if (copies.hidden_ns < kHalf * copies.time_ns && copies.direction != kDirections[2].second)
    into.push_back(
        {"exposed_copies", kAdviceOfTimeline,
         fmt::format("copies {} are not hidden behind kernels", copies.direction),
         evidence + fmt::format("; {} of it beside kernels", in_percent(copies.hidden_ns / copies.time_ns)),
         "--timing pipelined --overlap; in training a loader that copies ahead"});
}

void add_communication(const DeviceTimeline& line, std::vector<Finding>& into) {
  const auto exposed = line.nccl_ns - line.nccl_hidden_ns;
  if (line.span_ns <= 0 || exposed < kWorthSaying * line.span_ns) return;
  into.push_back(
      {"exposed_communication", kAdviceOfTimeline,
       fmt::format("{}: {} of the time is communication that no kernel hides", name_of(line),
                   in_percent(exposed / line.span_ns)),
       fmt::format("{} of NCCL, {} together", plural(static_cast<std::int64_t>(line.nccl_kernels), "kernel"),
                   format_duration_ns(line.nccl_ns)),
       "paceline profile --from FOLDER with traces of all ranks says which rank is late, and what buckets "
       "would help"});
}

std::vector<Finding> findings_of(const TimelineStudy& study) {
  std::vector<Finding> found;
  double span_ns = 0;
  for (const auto& line : study.devices) {
    add_idle(line, found);
    add_communication(line, found);
    span_ns += line.span_ns;
  }
  for (const auto& copies : study.copies) add_copies(copies, span_ns, found);
  for (auto& finding : kernel_findings(study.kernels)) found.push_back(std::move(finding));
  return found;
}

}  // namespace

std::string name_of(const DeviceTimeline& line) {
  return line.process == 0 ? fmt::format("device {}", line.device)
                           : fmt::format("device {} of process {}", line.device, line.process);
}

TimelineStudy study_timeline(const NsysFile& file, const std::string& source) {
  TimelineStudy study{source, {}, {}, kernels_of(file), {}, file.remarks};
  const auto work = work_of(file, source);
  study.devices = timelines_of(file, work);
  for (const auto& [kind, direction] : kDirections)
    if (auto figures = figures_of(file, kind, direction, work); figures.copies > 0)
      study.copies.push_back(std::move(figures));
  if (study.devices.empty())
    throw Error(ErrorCode::kData, fmt::format("{}: no activity of a GPU takes time", shown_path(source)));
  study.ranges = ranges_of(file, study.remarks);
  study.findings = findings_of(study);
  return study;
}

}  // namespace paceline::nsight
