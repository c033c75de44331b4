// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "torch/flop_counter.h"

namespace paceline::torch_plugin {

// Makes oneDNN log what it executes and captures the log, which goes to the process's stdout. LibTorch's
// dispatcher does not see convolutions with prepacked weights; only this log shows them.
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
  std::string shape;      // as oneDNN writes it: mb1_ic3oc64_ih224…
  double flops = 0;
  double time_ns = 0;
};
// Convolutions in the lines of the log, in order.
std::vector<LoggedConvolution> logged_convolutions(std::string_view onednn_log);

// Sums them by the type of their input.
WorkByPrecision convolutions_in(std::string_view onednn_log);

}  // namespace paceline::torch_plugin
