// SPDX-License-Identifier: MIT
#include "nsight/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

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
double late_host_ns(const NsysFile& file, std::int64_t device) {
  std::vector<Activity> all(file.graphs.begin(), file.graphs.end());
  all.insert(all.end(), file.kernels.begin(), file.kernels.end());
  all.insert(all.end(), file.copies.begin(), file.copies.end());
  std::erase_if(all, [&](const Activity& one) { return one.device != device; });
  std::ranges::sort(all, {}, &Activity::start);
  double late = 0;
  std::int64_t done = all.empty() ? 0 : all.front().start;
  for (const auto& one : all) {
    if (one.start > done && one.asked)
      late += static_cast<double>(std::clamp(*one.asked, done, one.start) - done);
    done = std::max(done, one.end);
  }
  return late;
}

DeviceTimeline timeline_of(const NsysFile& file, std::int64_t device) {
  const auto here = [&](const Activity& one) { return one.device == device; };
  auto kernels = spans_of(file.kernels, here);
  const auto graphs = spans_of(file.graphs, here);
  kernels.insert(kernels.end(), graphs.begin(), graphs.end());
  kernels = united(std::move(kernels));
  auto busy = spans_of(file.copies, here);
  busy.insert(busy.end(), kernels.begin(), kernels.end());
  busy = united(std::move(busy));
  const auto nccl = spans_of(file.kernels, [&](const Kernel& k) { return here(k) && is_nccl(k); });
  const auto others = spans_of(file.kernels, [&](const Kernel& k) { return here(k) && !is_nccl(k); });
  DeviceTimeline line;
  line.device = device;
  line.span_ns = static_cast<double>(busy.back().second - busy.front().first);
  line.busy_ns = length_of(busy), line.kernels_ns = length_of(kernels);
  line.late_host_ns = late_host_ns(file, device);
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

CopyFigures figures_of(const NsysFile& file, CopyKind kind, const char* direction,
                       const std::set<std::int64_t>& devices) {
  CopyFigures figures{direction};
  for (const auto& copy : file.copies) {
    if (copy.kind != kind) continue;
    ++figures.copies;
    figures.bytes += static_cast<double>(copy.bytes),
        figures.time_ns += static_cast<double>(copy.end - copy.start);
    if (copy.pageable) figures.pageable_bytes += static_cast<double>(copy.bytes);
  }
  for (const auto device : devices)
    figures.hidden_ns += length_of(
        common(spans_of(file.copies, [&](const Copy& c) { return c.kind == kind && c.device == device; }),
               spans_of(file.kernels, [&](const Kernel& k) { return k.device == device; })));
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

std::string in_percent(double share) {
  return format_percent(share, 0);
}

constexpr double kWorthSaying = 0.05;  // of the time of a device

void add_idle(const DeviceTimeline& line, std::vector<KernelFinding>& into) {
  const double idle = (line.span_ns - line.busy_ns) / line.span_ns, late = line.late_host_ns / line.span_ns;
  if (late < kWorthSaying) return;
  into.push_back(
      {fmt::format("device {} waits for the host in {} of the time", line.device, in_percent(late)),
       fmt::format("it is idle in {}; there the call for its next work had not returned yet",
                   in_percent(idle)),
       "a graph (--cuda-graphs true), a larger batch, an engine that fuses kernels; fewer synchronisations "
       "in "
       "training"});
}

void add_copies(const CopyFigures& copies, double span_ns, std::vector<KernelFinding>& into) {
  if (copies.time_ns < kWorthSaying * span_ns) return;
  const auto evidence =
      fmt::format("{} in {}, {} of the time, {}/s", plural(static_cast<std::int64_t>(copies.copies), "copy"),
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
      {fmt::format("device {}: {} of the time is communication that no kernel hides", line.device,
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

TimelineStudy study_timeline(const NsysFile& file, const std::string& source) {
  TimelineStudy study{source, {}, {}, kernels_of(file), {}, file.remarks};
  std::set<std::int64_t> devices;
  for (const auto& one : file.kernels) devices.insert(one.device);
  for (const auto& one : file.copies) devices.insert(one.device);
  for (const auto& one : file.graphs) devices.insert(one.device);
  for (const auto device : devices) study.devices.push_back(timeline_of(file, device));
  for (const auto& [kind, direction] : kDirections)
    if (auto figures = figures_of(file, kind, direction, devices); figures.copies > 0)
      study.copies.push_back(std::move(figures));
  study.findings = findings_of(study);
  return study;
}

}  // namespace paceline::nsight
