// SPDX-License-Identifier: MIT
#include "workload/window/measured_window.h"

#include <exception>

namespace paceline::workload {
namespace {

// The pass has failed already, and its own reason counts.
void close_quietly(MeasuredWindow& window) {
  try {
    window.close();
  } catch (...) {
  }
}

}  // namespace

MeasuredWindow::~MeasuredWindow() {
  close_quietly(*this);
}

WindowScope::~WindowScope() {
  close_quietly(window_);
}

void MeasuredWindow::open() {
  for (open_ = 0; open_ < observers_.size(); ++open_) observers_[open_]->open();
}

void MeasuredWindow::close() {
  std::exception_ptr first;
  while (open_ > 0) {
    --open_;
    try {
      observers_[open_]->close();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

void MeasuredWindow::report(result::Repetition& into, double typical_ns) const {
  for (auto one = observers_.rbegin(); one != observers_.rend(); ++one) (*one)->report(into, typical_ns);
}

}  // namespace paceline::workload
