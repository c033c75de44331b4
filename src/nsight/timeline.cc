// SPDX-License-Identifier: MIT
#include "nsight/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "base/display_text.h"
#include "base/error.h"
#include "base/units.h"
#include "nsight/kernel_findings.h"

namespace paceline::nsight {
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
  for (const auto& one : all)
    if (wanted(one)) spans.emplace_back(one.start, one.end);
  return united(std::move(spans));
}

bool is_nccl(const Kernel& kernel) {
  return kernel.name.find("ncclDevKernel") != std::string::npos ||
         kernel.name.find("ncclKernel") != std::string::npos;
}

// Idle time that ended with an activity for which the host's call had not ended when the device fell idle:
// until it did, the device waited for the host.
Spans late_spans(const NsysFile& file, Place place) {
  std::vector<Activity> all(file.graphs.begin(), file.graphs.end());
  all.insert(all.end(), file.fills.begin(), file.fills.end());
  all.insert(all.end(), file.kernels.begin(), file.kernels.end());
  all.insert(all.end(), file.copies.begin(), file.copies.end());
  std::erase_if(all, [&](const Activity& one) { return place_of(one) != place; });
  std::ranges::sort(all, {}, &Activity::start);
  Spans late;
  std::int64_t done = all.empty() ? 0 : all.front().start;
  for (const auto& one : all) {
    if (one.start > done && one.asked) late.emplace_back(done, std::clamp(*one.asked, done, one.start));
    done = std::max(done, one.end);
  }
  return united(std::move(late));
}

// What the host was doing in these spans. Calls of several threads at once count once a name.
std::vector<std::pair<std::string, double>> host_in(const NsysFile& file, Place place, const Spans& spans) {
  std::map<std::string, Spans> by_name;
  Spans all;
  for (const auto& call : file.calls)
    if (call.process == 0 || place.first == 0 || call.process == place.first) {
      by_name[call.name].emplace_back(call.start, call.end);
      all.emplace_back(call.start, call.end);
    }
  std::vector<std::pair<std::string, double>> found;
  if (all.empty()) return found;
  for (auto& [name, calls] : by_name)
    if (const auto ns = length_of(common(united(std::move(calls)), spans)); ns > 0)
      found.emplace_back(name, ns);
  const auto outside = length_of(spans) - length_of(common(united(std::move(all)), spans));
  if (outside > 0) found.emplace_back("", outside);
  std::ranges::stable_sort(found, std::ranges::greater{}, [](const auto& one) { return one.second; });
  return found;
}

Spans united(const Spans& a, const Spans& b) {
  Spans both = a;
  both.insert(both.end(), b.begin(), b.end());
  return united(std::move(both));
}

// Nothing for a device that did nothing that takes time.
std::optional<DeviceTimeline> timeline_of(const NsysFile& file, Place place) {
  const auto here = [&](const Activity& one) { return place_of(one) == place; };
  const auto graphs = spans_of(file.graphs, here);
  const auto kernels = united(spans_of(file.kernels, here), graphs);
  const auto busy = united(united(spans_of(file.copies, here), spans_of(file.fills, here)), kernels);
  if (busy.empty()) return std::nullopt;
  const auto nccl = spans_of(file.kernels, [&](const Kernel& k) { return here(k) && is_nccl(k); });
  const auto others =
      united(spans_of(file.kernels, [&](const Kernel& k) { return here(k) && !is_nccl(k); }), graphs);
  DeviceTimeline line;
  line.process = place.first, line.device = place.second;
  line.span_ns = static_cast<double>(busy.back().second - busy.front().first);
  line.busy_ns = length_of(busy), line.kernels_ns = length_of(kernels);
  const auto late = late_spans(file, place);
  line.late_host_ns = length_of(late);
  line.late_in = host_in(file, place, late);
  line.nccl_kernels = static_cast<std::size_t>(
      std::ranges::count_if(file.kernels, [&](const Kernel& k) { return here(k) && is_nccl(k); }));
  line.nccl_ns = length_of(nccl), line.nccl_hidden_ns = length_of(common(nccl, others));
  return line;
}

constexpr std::array<std::pair<CopyKind, const char*>, 4> kDirections{
    {{CopyKind::kHostToDevice, "host to device"},
     {CopyKind::kDeviceToHost, "device to host"},
     {CopyKind::kDeviceToDevice, "within a device"},
     {CopyKind::kOther, "other"}}};

// Copies of one direction that overlap count once in times.
CopyFigures figures_of(const NsysFile& file, CopyKind kind, const char* direction,
                       const std::set<Place>& places) {
  CopyFigures figures{direction};
  for (const auto& copy : file.copies) {
    if (copy.kind != kind) continue;
    ++figures.copies;
    figures.bytes += static_cast<double>(copy.bytes);
    if (copy.pageable) figures.pageable_bytes += static_cast<double>(copy.bytes);
  }
  for (const auto& place : places) {
    const auto here = [&](const Activity& one) { return place_of(one) == place; };
    const auto copies = spans_of(file.copies, [&](const Copy& c) { return c.kind == kind && here(c); });
    figures.time_ns += length_of(copies);
    figures.hidden_ns +=
        length_of(common(copies, united(spans_of(file.kernels, here), spans_of(file.graphs, here))));
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

// The work of a device belongs to every range in which the host asked for it.
std::vector<RangeFigures> ranges_of(const NsysFile& file) {
  struct Asked {
    std::int64_t at = 0, process = 0;
    Span span;
  };
  std::vector<Asked> work;
  const auto add = [&](const auto& all) {
    for (const auto& one : all)
      if (one.asked) work.push_back({*one.asked, one.process, {one.start, one.end}});
  };
  add(file.kernels), add(file.copies), add(file.graphs), add(file.fills);
  std::ranges::sort(work, {}, &Asked::at);
  std::vector<RangeFigures> all;
  std::map<std::string, std::pair<std::size_t, Spans>> by_name;
  for (const auto& range : file.ranges) {
    const auto [found, is_new] = by_name.try_emplace(range.name, all.size(), Spans{});
    if (is_new) all.push_back({range.name});
    auto& [at, spans] = found->second;
    ++all[at].ranges;
    all[at].host_ns += static_cast<double>(range.end) - static_cast<double>(range.start);
    for (auto one = std::ranges::lower_bound(work, range.start, {}, &Asked::at);
         one != work.end() && one->at <= range.end; ++one)
      if (range.process == 0 || one->process == 0 || one->process == range.process)
        spans.push_back(one->span);
  }
  for (auto& [name, found] : by_name) all[found.first].device_ns = length_of(united(std::move(found.second)));
  return all;
}

std::string in_percent(double share) {
  return format_percent(share, 0);
}

constexpr double kWorthSaying = 0.05;  // of the time of a device

// What to try where the host spends the time in a call with this in its name, in this order.
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
    if (line.late_in.front().first.find(cause.part) != std::string::npos) return cause.advice;
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

void add_idle(const DeviceTimeline& line, std::vector<KernelFinding>& into) {
  const double idle = (line.span_ns - line.busy_ns) / line.span_ns, late = line.late_host_ns / line.span_ns;
  if (late < kWorthSaying) return;
  into.push_back({fmt::format("{} waits for the host in {} of the time", name_of(line), in_percent(late)),
                  fmt::format("it is idle in {}; there the call for its next work had not returned yet{}",
                              in_percent(idle), host_words(line)),
                  std::string(advice_for(line))});
}

void add_copies(const CopyFigures& copies, double span_ns, std::vector<KernelFinding>& into) {
  if (copies.time_ns <= 0 || copies.time_ns < kWorthSaying * span_ns) return;
  const auto evidence = fmt::format("{} in {}, {} of the time, {}/s",
                                    plural(static_cast<std::int64_t>(copies.copies), "transfer"),
                                    format_duration_ns(copies.time_ns), in_percent(copies.time_ns / span_ns),
                                    format_bytes(copies.bytes / copies.time_ns * 1e9));
  constexpr double kHalf = 0.5;
  if (copies.pageable_bytes > kHalf * copies.bytes)
    into.push_back({fmt::format("copies {} use memory that is not pinned", copies.direction), evidence,
                    "--io pinned; in training pin_memory and non_blocking=True"});
  else if (copies.hidden_ns < kHalf * copies.time_ns && copies.direction != kDirections[2].second)
    into.push_back(
        {fmt::format("copies {} are not hidden behind kernels", copies.direction),
         evidence + fmt::format("; {} of it beside kernels", in_percent(copies.hidden_ns / copies.time_ns)),
         "--timing pipelined --overlap; in training a loader that copies ahead"});
}

void add_communication(const DeviceTimeline& line, std::vector<KernelFinding>& into) {
  const auto exposed = line.nccl_ns - line.nccl_hidden_ns;
  if (line.span_ns <= 0 || exposed < kWorthSaying * line.span_ns) return;
  into.push_back(
      {fmt::format("{}: {} of the time is communication that no kernel hides", name_of(line),
                   in_percent(exposed / line.span_ns)),
       fmt::format("{} of NCCL, {} together", plural(static_cast<std::int64_t>(line.nccl_kernels), "kernel"),
                   format_duration_ns(line.nccl_ns)),
       "paceline profile --from FOLDER with traces of all ranks says which rank is late, and what buckets "
       "would help"});
}

std::vector<KernelFinding> findings_of(const TimelineStudy& study) {
  std::vector<KernelFinding> found;
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
  std::set<Place> places;
  for (const auto& one : file.kernels) places.insert(place_of(one));
  for (const auto& one : file.copies) places.insert(place_of(one));
  for (const auto& one : file.graphs) places.insert(place_of(one));
  for (const auto& place : places)
    if (auto line = timeline_of(file, place)) study.devices.push_back(std::move(*line));
  for (const auto& [kind, direction] : kDirections)
    if (auto figures = figures_of(file, kind, direction, places); figures.copies > 0)
      study.copies.push_back(std::move(figures));
  if (study.devices.empty())
    throw Error(ErrorCode::kData, fmt::format("{}: no activity of a GPU takes time", shown_path(source)));
  study.ranges = ranges_of(file);
  study.findings = findings_of(study);
  return study;
}

}  // namespace paceline::nsight
