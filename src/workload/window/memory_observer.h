// SPDX-License-Identifier: MIT
// Reads the peak of this process's memory.
#pragma once
#include <utility>

#include "workload/window/measured_window.h"

namespace paceline::workload {

class MemoryObserver : public WindowObserver {
 public:
  enum class Until { kClose, kReport };  // kReport: what a pass does after its timed samples counts as well
  // `memory`: rss_before_load_bytes, where something was loaded.
  explicit MemoryObserver(result::Memory memory = {}, Until until = Until::kClose)
      : memory_(std::move(memory)), until_(until) {}
  void close() override {
    if (until_ == Until::kClose) read_peak();
  }
  void report(result::Repetition& into, double) override {
    if (until_ == Until::kReport) read_peak();
    into.memory = memory_;
  }

 private:
  void read_peak();

  result::Memory memory_;
  Until until_;
};

}  // namespace paceline::workload
