// SPDX-License-Identifier: MIT
// Runs PyTorch's profiler (Kineto), and reads its events as calls.
#pragma once
#include <ATen/record_function.h>
#include <c10/core/Device.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <set>
#include <string>
#include <vector>

#include "support/profiled_calls.h"

namespace paceline::torch_plugin {

// Starts the profiler on this thread, and for the kernels of a CUDA device. Error(kUnsupported) if it cannot.
void start_kineto(c10::Device device);
// Ends the profiler after an error.
void end_kineto_quietly() noexcept;

// Calls of operators and scopes, calls of CUDA that launch something, kernels, copies; without events of the
// profiler itself and of Python. Scopes of other names than these, as c10d's around a collective in flight,
// are beside their thread.
std::vector<plugin_support::ProfiledCall> calls_of(const torch::autograd::profiler::ProfilerResult& seen,
                                                   const std::set<std::string>& scopes);

// Scope that the profiler sees, from construction to destruction.
class KinetoScope {
 public:
  explicit KinetoScope(std::string name);
  KinetoScope(const KinetoScope&) = delete;
  KinetoScope& operator=(const KinetoScope&) = delete;

 private:
  std::string name_;  // the record keeps a view of it
  at::RecordFunction record_;
};

}  // namespace paceline::torch_plugin
