// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "torch/flop_counter.h"

namespace paceline::torch_plugin {

// Has oneDNN log what it executes and catches the log, which goes to the process's stdout. Convolutions with
// prepacked weights pass LibTorch's dispatcher unseen; this log is the only place that tells of them.
class OnednnLog {
 public:
  OnednnLog();
  ~OnednnLog();
  OnednnLog(const OnednnLog&) = delete;
  OnednnLog& operator=(const OnednnLog&) = delete;
  // Ends the capture.
  [[nodiscard]] std::string take();

 private:
  void restore();
  int stdout_copy_ = -1;
  int buffer_ = -1;
};

struct LoggedConvolution {
  std::string precision;  // of its input
  std::string shape;      // in oneDNN's words: mb1_ic3oc64_ih224…
  double flops = 0;
  double time_ns = 0;
};
// Convolutions among the log's lines, in order.
std::vector<LoggedConvolution> logged_convolutions(std::string_view onednn_log);

// The same added up, by the type of their input.
WorkByPrecision convolutions_in(std::string_view onednn_log);

}  // namespace paceline::torch_plugin
