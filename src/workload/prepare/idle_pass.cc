// SPDX-License-Identifier: MIT
// The pass that reads the meters of a run before its first worker.
#include <thread>

#include "workload/pass_records.h"
#include "workload/prepare/passes.h"
#include "workload/window/sampler_observer.h"

namespace paceline::workload {

void measure_idle(const pass::PassSpec& spec, pass::RecordSink& sink) {
  constexpr std::chrono::milliseconds kLength{500};
  sink.emit(pass::phase_record("measure"));
  std::vector<result::SampledWindow> sampled;
  MeasuredWindow window;
  add_samplers(window, spec, 1, sampled);
  window.open();
  std::this_thread::sleep_for(kLength);
  window.close();
  result::Repetition unused;
  window.report(unused, 0);
  sink.emit(pass::sampled_record({pass::sampled_text(sampled)}));
}

}  // namespace paceline::workload
