// SPDX-License-Identifier: MIT
// The timed pass of requests: lanes of this process or instances serve them.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/closed_loop.h"
#include "measure/open_loop.h"
#include "result/stored/load.h"
#include "workload/inference/pass_parts.h"
#include "workload/timed_repetition.h"

namespace paceline::workload {

// Figures of a service at its end.
struct ServiceEnd {
  double load_ns = 0;
  std::optional<result::Memory> memory;         // of processes that no observer of this one sees
  result::Correctness correctness;              // of the last outputs, the worst of all lanes
  std::string batching;                         // as in Load
  std::vector<result::InstanceLoad> instances;  // empty: one process; counts of the last run
};

// Serves requests in a load pass: lanes of this process, or instances in processes of their own.
class Service {
 public:
  virtual ~Service() = default;
  virtual measure::JudgedLoop<measure::HostWaitingClock>& loop() = 0;  // work without a schedule
  virtual std::vector<measure::Request> serve(const measure::OpenLoopConfig& config) = 0;
  // Settles how batches that are not full are run, once every lane has made its first call.
  virtual void try_batch_sizes() = 0;
  // When those calls of the last loop began that were never completed.
  [[nodiscard]] virtual std::vector<std::int64_t> lost_calls() const = 0;
  // Throws when the service has lost a part of itself; only the measured run may end like that.
  virtual void require_complete() const = 0;
  // Adds to the window of a repetition what observes this service.
  virtual void observe(TimedRepetition& repetition) const = 0;
  // Compares outputs and frees memory; nothing is served after it. `typical_ns`: of a call.
  virtual ServiceEnd finish(double typical_ns) = 0;
};

// The timed pass of closed_loop, offline and server: one engine per lane, side by side in this process.
void run_load_pass(const pass::PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt);

// Makes any service after the calibration.
using MakeService = std::function<std::unique_ptr<Service>(const measure::HostWaitingClock& clock,
                                                           const measure::LoopHooks& hooks)>;
void run_load_pass(const pass::PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt,
                   const MakeService& make);

}  // namespace paceline::workload
