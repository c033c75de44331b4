// SPDX-License-Identifier: MIT
// Reads all metrics of one GPU, and keeps what it cannot be asked.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "nvml/metrics.h"
#include "plugin/sampler.h"

namespace paceline::nvml_plugin {

// The metric that names, in words, what is not read and why. It is empty again when all is read, and begins
// with "everything: " for a GPU that is lost.
inline constexpr const char* kLeftOut = "left_out";

class DeviceReader {
 public:
  // `name`: as the case calls it, "cuda:1".
  DeviceReader(Source source, std::string name, bool pcie);
  // Metrics with this period or a shorter one. One that has no value this time is not finite, or an
  // empty text. What the GPU does not report is listed in metric left_out when that changes, and while it may
  // pass. Of a lost GPU only the loss is reported until it answers.
  void read(Period period, std::vector<plugin::Reading>& into);
  // Why the GPU does not answer: "cuda:0 does not answer any more (GPU is lost); …"; empty: it does.
  [[nodiscard]] std::string loss() const;
  // Lets the next reading list what is left out.
  void report_again() { reported_.clear(); }

 private:
  struct Asked {
    const Probe* probe;
    std::string why{};   // it has no value; empty: it has
    bool ended = false;  // and it is asked no more
  };
  void ask(Asked& one, std::vector<plugin::Reading>& into);
  void tell(std::vector<plugin::Reading>& into);
  [[nodiscard]] std::string too_much(const Probe& probe) const;

  Source source_;
  std::string name_;
  std::vector<Asked> asked_;
  Values values_;
  std::string lost_;      // in the driver's words
  std::string reported_;  // of what is left out
};

}  // namespace paceline::nvml_plugin
