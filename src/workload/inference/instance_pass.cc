// SPDX-License-Identifier: MIT
#include "workload/inference/instance_pass.h"

#include "host/affinity.h"
#include "workload/inference/lanes.h"
#include "workload/window/memory_observer.h"

namespace paceline::workload {
namespace {

// Makes the first call of every lane, of lane 0 alone first; returns how long that one took.
std::int64_t first_calls(Lanes& lanes, const measure::HostWaitingClock& clock) {
  std::int64_t first_ns = 0;
  lanes.crew().run([&](int lane) {
    if (lane != 0) return;
    const auto start = clock.now_ns();
    lanes.infer(lane);
    first_ns = clock.now_ns() - start;
  });
  lanes.crew().run([&](int lane) {
    if (lane != 0) lanes.infer(lane);
  });
  return first_ns;
}

}  // namespace

void run_instance_pass(const pass::PassSpec& spec, TaggedSink& sink, measure::SharedQueue& queue) {
  if (!spec.pin_cpus.empty()) host::pin_process(spec.pin_cpus);
  const measure::HostWaitingClock clock;
  const int instance = static_cast<int>(spec.load.instance);
  Lanes lanes(spec, sink);
  const auto first_ns = first_calls(lanes, clock);
  lanes.try_batch_sizes();
  sink.phase("serve");
  MeasuredWindow window;
  window.add<MemoryObserver>(lanes.memory());
  window.open();
  queue.say_ready(instance, first_ns);
  while (queue.wait_for_round()) {
    lanes.crew().run([&](int lane) {
      const auto body = [&](auto batch) { queue.paced() ? lanes.serve(lane, batch) : lanes.infer(lane); };
      while (!lanes.crew().failed() && queue.serve(clock, instance, body)) {
      }
    });
    queue.say_finished(instance);
  }
  window.close();
  sink.phase("verify");
  result::Repetition r;
  r.load_ns = lanes.load_ns();
  window.report(r, 0);
  r.load.emplace().batching = lanes.batching();
  sink.emit(pass::correctness_record(lanes.check()));
  sink.emit(pass::repetition_record(r));
  sink.phase(kUnload);
}

}  // namespace paceline::workload
