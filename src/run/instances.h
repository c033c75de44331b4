// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <exception>
#include <utility>

#include "run/worker_end.h"
#include "workload/pass.h"
#include "workload/records.h"

// A load pass over several worker processes that share one queue (methodology: instances).
namespace paceline::run {

// An instance died before or outside the measured run: there is nothing to report but that.
class InstanceDied : public std::exception {
 public:
  explicit InstanceDied(Verdict verdict) : verdict_(std::move(verdict)) {}
  [[nodiscard]] const char* what() const noexcept override { return verdict_.reason.c_str(); }
  [[nodiscard]] const Verdict& verdict() const { return verdict_; }

 private:
  Verdict verdict_;
};

// In the worker: starts spec.load.instances processes, each pinned to a part of spec.pin_cpus of its own, and
// runs the scenario on them. An instance that dies in the measured run fails the requests it had claimed; the
// others go on, and the record says so. Throws InstanceDied for any other death.
void run_on_instances(const workload::PassSpec& spec, workload::RecordSink& sink,
                      const std::atomic<bool>& interrupt);

// In an instance: serves the queue at kExtraFd until it is closed.
void serve_as_instance(const workload::PassSpec& spec, workload::RecordSink& sink);

}  // namespace paceline::run
