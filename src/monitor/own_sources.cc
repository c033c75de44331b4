// SPDX-License-Identifier: MIT
// Readings of the monitor itself: its CPU time and its version.
#include <ctime>
#include <string>
#include <utility>

#include "monitor/source.h"

namespace paceline::monitor {
namespace {

class OwnCost : public Source {
 public:
  void read(Snapshot& into) override {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    into.add("paceline_monitor_cpu_seconds_total", "CPU time of the monitor itself.", {},
             static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9);
  }
};

class Build : public Source {
 public:
  Build(std::string version, std::string commit)
      : labels_{{"version", std::move(version)}, {"commit", std::move(commit)}} {}
  void read(Snapshot& into) override {
    into.add("paceline_build_info", "Version and commit of this tool; always 1.", labels_, 1);
  }

 private:
  Labels labels_;
};

}  // namespace

std::unique_ptr<Source> own_cost_source() {
  return std::make_unique<OwnCost>();
}

std::unique_ptr<Source> build_source(std::string version, std::string commit) {
  return std::make_unique<Build>(std::move(version), std::move(commit));
}

}  // namespace paceline::monitor
