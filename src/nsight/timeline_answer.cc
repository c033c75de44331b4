// SPDX-License-Identifier: MIT
// A study of a timeline as an answer.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/archive.h"
#include "base/units.h"
#include "nsight/kernel_answer.h"
#include "nsight/timeline.h"

namespace paceline::nsight {

PACELINE_FIELDS(HostCall, call, ns);
PACELINE_FIELDS(DeviceTimeline, process, device, span_ns, busy_ns, kernels_ns, late_host_ns, nccl_kernels,
                nccl_ns, nccl_hidden_ns, late_in);
PACELINE_FIELDS(CopyFigures, direction, copies, bytes, time_ns, pageable_bytes, hidden_ns);
PACELINE_FIELDS(RangeFigures, name, ranges, host_ns, device_ns);

namespace {

std::string share_text(double part, double whole) {
  return whole > 0 ? format_percent(part / whole, 0) : answer::kNone;
}

// "device 0: 75 % of 400 µs busy, 50 % with kernels; waits for the host 22 %"
std::string device_line(const DeviceTimeline& d) {
  std::string text = fmt::format("{}: {} of {} busy, {} with kernels; waits for the host {}", name_of(d),
                                 share_text(d.busy_ns, d.span_ns), format_duration_ns(d.span_ns),
                                 share_text(d.kernels_ns, d.span_ns), share_text(d.late_host_ns, d.span_ns));
  if (d.nccl_kernels > 0)
    text += fmt::format("; NCCL {}, {} of it hidden", share_text(d.nccl_ns, d.span_ns),
                        share_text(d.nccl_hidden_ns, d.nccl_ns));
  return text;
}

answer::Table copy_table(const std::vector<CopyFigures>& copies) {
  answer::Table table{.heads = {"copies", "number", "bytes", "time", "rate", "not pinned", "hidden"}};
  for (const auto& c : copies)
    table.add(c.direction, std::to_string(c.copies), format_bytes(c.bytes), format_duration_ns(c.time_ns),
              c.time_ns > 0 ? format_bytes(c.bytes / c.time_ns * 1e9) + "/s" : std::string(answer::kNone),
              share_text(c.pageable_bytes, c.bytes), share_text(c.hidden_ns, c.time_ns));
  return table;
}

answer::Section range_section(const std::vector<RangeFigures>& ranges) {
  constexpr std::size_t kMostRanges = 12, kLabel = 24;
  answer::Section section{.title = "Ranges of NVTX"};
  section.table = {.heads = {"range", "times", "host, one", "GPU, one"}, .labels = kLabel};
  for (const auto& r : std::span(ranges).first(std::min(kMostRanges, ranges.size()))) {
    const auto each = 1 / static_cast<double>(r.ranges);
    section.table.add(r.name, std::to_string(r.ranges), format_duration_ns(r.host_ns * each),
                      format_duration_ns(r.device_ns * each));
  }
  if (ranges.size() > kMostRanges)
    section.notes.push_back(fmt::format("and {} more (--json has all)", ranges.size() - kMostRanges));
  return section;
}

}  // namespace

answer::Answer answer_of(const TimelineStudy& study) {
  answer::Answer answer{.title = "Timeline of " + std::filesystem::path(study.source).filename().string(),
                        .sentence = sentence_of(study.findings),
                        .findings = study.findings,
                        .remarks = study.remarks};
  auto& devices = answer.sections.emplace_back(answer::Section{.title = "Devices"});
  for (const auto& device : study.devices) devices.paragraphs.push_back(device_line(device));
  if (!study.copies.empty())
    answer.sections.push_back({.title = "Copies", .table = copy_table(study.copies)});
  if (!study.ranges.empty()) answer.sections.push_back(range_section(study.ranges));
  answer.sections.push_back(kernel_section(study.kernels, KernelColumns::kTimes));
  using archive::Writer;
  answer.data = {{"source", study.source},
                 {"devices", Writer::write(study.devices)},
                 {"copies", Writer::write(study.copies)},
                 {"kernels", kernels_json(study.kernels)},
                 {"ranges", Writer::write(study.ranges)}};
  return answer;
}

}  // namespace paceline::nsight
