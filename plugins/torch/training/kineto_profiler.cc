// SPDX-License-Identifier: MIT
#include "torch/training/kineto_profiler.h"

#include <fmt/format.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/graph_task.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/profiled_calls.h"
#include "torch/errors.h"
#include "torch/kineto_calls.h"

namespace paceline::torch_plugin {
namespace {

namespace kineto = torch::autograd::profiler;

class KinetoProfiler : public plugin::Profiler {
 public:
  explicit KinetoProfiler(c10::Device device) : device_(device) {}
  ~KinetoProfiler() override {
    close_all();
    if (running_) end_kineto_quietly();
  }

  void start() override {
    start_kineto(device_);
    running_ = true;
  }

  // Inside a backward pass it would overlap the running operators, so it begins after them.
  void open(const std::string& scope) override {
    if (torch::autograd::get_current_graph_task_id() < 0) return begin(scope);
    torch::autograd::Engine::get_default_engine().queue_callback([this, scope] { begin(scope); });
  }
  void close() override {
    if (!scopes_.empty()) scopes_.pop_back();
  }

  plugin::StepProfile stop(const std::string& trace_file) override {
    close_all();
    return translate_errors(ErrorCode::kInternal, "Kineto's events cannot be read", [&] {
      running_ = false;
      const auto seen = kineto::disableProfiler();
      auto profile = plugin_support::profile_of(calls_of(*seen, names_));
      profile.source = profile.device_busy_ns ? "PyTorch's profiler (Kineto): times of the device's work"
                                              : "PyTorch's profiler (Kineto)";
      profile.no_trace = write(*seen, trace_file);
      return profile;
    });
  }

 private:
  void close_all() {
    while (!scopes_.empty()) scopes_.pop_back();
  }
  void begin(const std::string& scope) {
    names_.insert(scope);
    scopes_.push_back(std::make_unique<KinetoScope>(scope));
  }

  // Why no trace was written; empty when it was. LibTorch may lack Kineto, which itself only logs errors.
  static std::string write(kineto::ProfilerResult& seen, const std::string& trace_file) {
    try {
      seen.save(trace_file);
    } catch (const std::exception& e) {
      return fmt::format("no trace: {}", reason_of(e));
    }
    std::error_code error;
    if (std::filesystem::file_size(trace_file, error) > 0 && !error) return {};
    return fmt::format("no trace: Kineto could not write '{}'", trace_file);
  }

  c10::Device device_;
  std::vector<std::unique_ptr<KinetoScope>> scopes_;  // open ones, the outermost first
  std::set<std::string> names_;                       // of all scopes that were opened
  bool running_ = false;
};

}  // namespace

std::unique_ptr<plugin::Profiler> make_kineto_profiler(c10::Device device) {
  return std::make_unique<KinetoProfiler>(device);
}

}  // namespace paceline::torch_plugin
