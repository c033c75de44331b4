// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <exception>
#include <utility>

#include "pass/pass.h"
#include "pass/records.h"
#include "process/worker_end.h"

// A load pass over several worker processes that share one queue (methodology: instances).
namespace paceline::workload {

// An instance died before or outside the measured run, so that there is nothing else to report.
class InstanceDied : public std::exception {
 public:
  explicit InstanceDied(process::Verdict verdict) : verdict_(std::move(verdict)) {}
  [[nodiscard]] const char* what() const noexcept override { return verdict_.reason.c_str(); }
  [[nodiscard]] const process::Verdict& verdict() const { return verdict_; }

 private:
  process::Verdict verdict_;
};

// Runs in the worker: starts spec.inference.load.instances processes, each pinned to its own part of
// spec.pin_cpus, and runs the scenario on them. An instance that dies in the measured run fails the requests
// it had claimed; the others go on, and the record says so. Throws InstanceDied for any other death.
void run_on_instances(const pass::PassSpec& spec, pass::RecordSink& sink, const std::atomic<bool>& interrupt);

// Runs in an instance: serves the queue at kExtraFd until it is closed.
void serve_as_instance(const pass::PassSpec& spec, pass::RecordSink& sink);

}  // namespace paceline::workload
