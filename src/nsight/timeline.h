// SPDX-License-Identifier: MIT
// Timeline of a device: busy, idle and for whom it waited, copies and how much of them was hidden.
#pragma once
#include <string>
#include <vector>

#include "answer/answer.h"
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

struct HostCall {
  std::string call;
  double ns = 0;
};

// From the first activity of a device to its last one.
struct DeviceTimeline {
  std::int64_t process = 0, device = 0;  // process 0: not known
  double span_ns = 0, busy_ns = 0;       // busy: at least one kernel, copy or graph
  double kernels_ns = 0;                 // at least one kernel or graph
  double late_host_ns = 0;  // idle, and the call for what came next had not ended when it began to idle
  // Where the host was in that time, the longest first: names of CUDA's calls, empty for none of them.
  std::vector<HostCall> late_in;
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
  std::vector<answer::Finding> findings;
  std::vector<std::string> remarks;
  std::vector<RangeFigures> ranges{};  // in the order in which they begin first
};

// "device 0", or "device 0 of process 4242".
std::string name_of(const DeviceTimeline& line);

TimelineStudy study_timeline(const NsysFile& file, const std::string& source);

// Tables of devices, copies, ranges and kernels, and the findings.
answer::Answer answer_of(const TimelineStudy& study);

}  // namespace paceline::nsight
