// SPDX-License-Identifier: MIT
// A study of a timeline as text and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/display_text.h"
#include "base/units.h"
#include "nsight/kernel_text.h"
#include "nsight/timeline.h"

namespace paceline::nsight {
namespace {

using Json = nlohmann::json;

std::string share_text(double part, double whole) {
  return whole > 0 ? format_percent(part / whole, 0) : "–";
}

std::string device_line(const DeviceTimeline& d) {
  std::string text = fmt::format("{}: {} of {} busy, {} with kernels; waits for the host {}", name_of(d),
                                 share_text(d.busy_ns, d.span_ns), format_duration_ns(d.span_ns),
                                 share_text(d.kernels_ns, d.span_ns), share_text(d.late_host_ns, d.span_ns));
  if (d.nccl_kernels > 0)
    text += fmt::format("; NCCL {}, {} of it hidden", share_text(d.nccl_ns, d.span_ns),
                        share_text(d.nccl_hidden_ns, d.nccl_ns));
  return text + "\n";
}

std::string copy_line(const CopyFigures& c) {
  return fmt::format("{:<16} {:>7} copies {:>10} {:>10} {:>12}   not pinned {:>5}   hidden {:>5}\n",
                     c.direction, c.copies, format_bytes(c.bytes), format_duration_ns(c.time_ns),
                     c.time_ns > 0 ? format_bytes(c.bytes / c.time_ns * 1e9) + "/s" : "–",
                     share_text(c.pageable_bytes, c.bytes), share_text(c.hidden_ns, c.time_ns));
}

constexpr std::size_t kMostRanges = 12;

std::string range_table(const std::vector<RangeFigures>& ranges) {
  if (ranges.empty()) return {};
  auto text = fmt::format("{:<24} {:>7} {:>12} {:>12}\n", "range of NVTX", "times", "host, one", "GPU, one");
  for (const auto& r : std::span(ranges).first(std::min(kMostRanges, ranges.size()))) {
    const auto each = 1 / static_cast<double>(r.ranges);
    text += fmt::format("{:<24.24} {:>7} {:>12} {:>12}\n", on_one_line(r.name), r.ranges,
                        format_duration_ns(r.host_ns * each), format_duration_ns(r.device_ns * each));
  }
  if (ranges.size() > kMostRanges)
    text += fmt::format("… and {} more (--json has all)\n", ranges.size() - kMostRanges);
  return text + "\n";
}

}  // namespace

Json to_json(const TimelineStudy& study) {
  Json devices = Json::array(), copies = Json::array();
  for (const auto& d : study.devices) {
    Json late_in = Json::array();
    for (const auto& [name, ns] : d.late_in) late_in.push_back({{"call", name}, {"ns", ns}});
    devices.push_back({{"process", d.process},
                       {"device", d.device},
                       {"span_ns", d.span_ns},
                       {"busy_ns", d.busy_ns},
                       {"kernels_ns", d.kernels_ns},
                       {"late_host_ns", d.late_host_ns},
                       {"nccl_kernels", d.nccl_kernels},
                       {"nccl_ns", d.nccl_ns},
                       {"nccl_hidden_ns", d.nccl_hidden_ns},
                       {"late_in", std::move(late_in)}});
  }
  for (const auto& c : study.copies)
    copies.push_back({{"direction", c.direction},
                      {"copies", c.copies},
                      {"bytes", c.bytes},
                      {"time_ns", c.time_ns},
                      {"pageable_bytes", c.pageable_bytes},
                      {"hidden_ns", c.hidden_ns}});
  Json ranges = Json::array();
  for (const auto& r : study.ranges)
    ranges.push_back(
        {{"name", r.name}, {"ranges", r.ranges}, {"host_ns", r.host_ns}, {"device_ns", r.device_ns}});
  Json kernels = Json::array();
  for (const auto& k : study.kernels)
    kernels.push_back(
        {{"name", k.name}, {"launches", k.launches}, {"time_ns", k.time_ns}, {"share", k.share}});
  return {
      {"source", study.source},        {"devices", std::move(devices)},       {"copies", std::move(copies)},
      {"kernels", std::move(kernels)}, {"findings", json_of(study.findings)}, {"remarks", study.remarks},
      {"ranges", std::move(ranges)}};
}

std::string text_of(const TimelineStudy& study, std::size_t columns) {
  std::string text;
  for (const auto& device : study.devices) text += device_line(device);
  text += "\n";
  for (const auto& copies : study.copies) text += copy_line(copies);
  if (!study.copies.empty()) text += "\n";
  return text + range_table(study.ranges) + kernel_table(study.kernels, columns, KernelColumns::kTimes) +
         findings_text(study.findings, study.remarks);
}

}  // namespace paceline::nsight
