// SPDX-License-Identifier: MIT
// Timeline of a device: busy, idle and for whom it waited, copies and how much of them was hidden.
#pragma once
#include <nlohmann/json.hpp>
#include <utility>

#include "nsight/kernel_figures.h"
#include "nsight/nsys_file.h"

namespace paceline::nsight {

struct CopyFigures {
  std::string direction;  // "host to device"
  std::size_t copies = 0;
  double bytes = 0, time_ns = 0;
  double pageable_bytes = 0;  // from or to memory that is not pinned
  double hidden_ns = 0;       // of the time, during kernels of the same device
};

// From the first activity of a device to its last one.
struct DeviceTimeline {
  std::int64_t process = 0, device = 0;  // process 0: not known
  double span_ns = 0, busy_ns = 0;       // busy: at least one kernel, copy or graph
  double kernels_ns = 0;                 // at least one kernel or graph
  double late_host_ns = 0;  // idle, and the call for what came next had not ended when it began to idle
  // Where the host was in that time, the longest first: names of CUDA's calls, empty for none of them.
  std::vector<std::pair<std::string, double>> late_in;
  std::size_t nccl_kernels = 0;
  double nccl_ns = 0, nccl_hidden_ns = 0;  // hidden: during other kernels
};

// All ranges of one name.
struct RangeFigures {
  std::string name;
  std::size_t ranges = 0;
  double host_ns = 0;    // from begin to end, added up
  double device_ns = 0;  // of the kernels, copies and graphs that were asked for within; overlaps count once
};

struct TimelineStudy {
  std::string source;
  std::vector<DeviceTimeline> devices;
  std::vector<CopyFigures> copies;
  std::vector<KernelFigures> kernels;  // the longest first; times and calls alone
  std::vector<KernelFinding> findings;
  std::vector<std::string> remarks;
  std::vector<RangeFigures> ranges{};  // in the order in which they begin first
};

// "device 0", or "device 0 of process 4242".
std::string name_of(const DeviceTimeline& line);

TimelineStudy study_timeline(const NsysFile& file, const std::string& source);

nlohmann::json to_json(const TimelineStudy& study);
std::string text_of(const TimelineStudy& study, std::size_t columns);

}  // namespace paceline::nsight
