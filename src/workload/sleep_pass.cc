// SPDX-License-Identifier: MIT
#include "workload/sleep_pass.h"

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "workload/pass_records.h"
#include "workload/timed_repetition.h"

namespace paceline::workload {

void run_sleep_pass(const pass::PassSpec& spec, pass::RecordSink& raw, const std::atomic<bool>& interrupt) {
  TaggedSink sink(raw, spec);
  TimedRepetition repetition(spec, sink);
  sink.phase("measure");
  const auto loop = repetition.run_loop(
      [&] { std::this_thread::sleep_for(std::chrono::nanoseconds(spec.sleep_ns)); }, interrupt);
  if (interrupt || loop.samples.empty()) return;
  repetition.emit(loop);
  sink.phase(kUnload);
}

}  // namespace paceline::workload
