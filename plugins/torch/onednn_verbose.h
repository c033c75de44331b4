// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

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

// Convolutions among the log's lines, by the type of their input.
WorkByPrecision convolutions_in(std::string_view onednn_log);

}  // namespace paceline::torch_plugin
