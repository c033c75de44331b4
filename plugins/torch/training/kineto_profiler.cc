// SPDX-License-Identifier: MIT
#include "torch/training/kineto_profiler.h"

#include <ATen/record_function.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/graph_task.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "support/profiled_calls.h"
#include "torch/errors.h"

namespace paceline::torch_plugin {
namespace {

namespace kineto = torch::autograd::profiler;
using plugin_support::ProfiledCall;
using torch::profiler::impl::ActivityType;

// libkineto::ActivityType, whose header some packages lack; traces contain the numbers, so they are fixed.
constexpr std::uint8_t kOperator = 0, kScope = 1, kCopy = 3, kSet = 4, kKernel = 5;

torch::profiler::impl::ProfilerConfig configuration() {
  return torch::profiler::impl::ProfilerConfig(torch::profiler::impl::ProfilerState::KINETO,
                                               /*report_input_shapes=*/true, /*profile_memory=*/false,
                                               /*with_stack=*/false,
                                               /*with_flops=*/false, /*with_modules=*/false);
}

// Events of the profiler itself, of the CUDA API and of Python do not count.
bool is_call(const kineto::KinetoEvent& event) {
  const auto type = event.activityType();
  const bool on_device = type == kCopy || type == kSet || type == kKernel;
  return event.deviceType() == c10::DeviceType::CPU ? type == kOperator || type == kScope : on_device;
}

ProfiledCall call_of(const kineto::KinetoEvent& event) {
  ProfiledCall call;
  call.name = event.name();
  call.thread = event.startThreadId();
  call.start_ns = static_cast<std::int64_t>(event.startNs());
  call.end_ns = call.start_ns + static_cast<std::int64_t>(event.durationNs());
  call.on_device = event.deviceType() != c10::DeviceType::CPU;
  call.beside = event.isAsync();
  if (call.on_device)
    call.started_by = event.linkedCorrelationId();
  else
    call.number = event.correlationId();
  return call;
}

// Lasts from its construction to its end.
class Scope {
 public:
  explicit Scope(std::string name) : name_(std::move(name)), record_(at::RecordScope::USER_SCOPE) {
    if (record_.isActive()) record_.before(std::string_view(name_));
  }

 private:
  std::string name_;  // the record keeps a view of it
  at::RecordFunction record_;
};

class KinetoProfiler : public plugin::Profiler {
 public:
  explicit KinetoProfiler(c10::Device device) {
    activities_.insert(ActivityType::CPU);
    if (device.is_cuda()) activities_.insert(ActivityType::CUDA);
  }
  ~KinetoProfiler() override {
    close_all();
    if (running_) end_quietly();
  }

  void start() override {
    translate_errors(ErrorCode::kUnsupported, "Kineto cannot start", [&] {
      kineto::prepareProfiler(configuration(), activities_);
      kineto::enableProfiler(
          configuration(), activities_,
          {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE});
      running_ = true;
    });
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
      std::vector<ProfiledCall> calls;
      for (const auto& event : seen->events()) {
        if (!is_call(event)) continue;
        auto& call = calls.emplace_back(call_of(event));
        const bool ours = names_.contains(call.name);
        call.scope = event.activityType() == kScope && ours;
        call.beside |= event.activityType() == kScope && !ours;  // c10d's scope around a collective in flight
      }
      auto profile = plugin_support::profile_of(std::move(calls));
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
  // Ends the profiler after steps that failed.
  static void end_quietly() noexcept {
    try {
      kineto::disableProfiler();
    } catch (const std::exception&) {
      return;
    }
  }
  void begin(const std::string& scope) {
    names_.insert(scope);
    scopes_.push_back(std::make_unique<Scope>(scope));
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

  std::set<ActivityType> activities_;
  std::vector<std::unique_ptr<Scope>> scopes_;  // open ones, the outermost first
  std::set<std::string> names_;                 // of all scopes that were opened
  bool running_ = false;
};

}  // namespace

std::unique_ptr<plugin::Profiler> make_kineto_profiler(c10::Device device) {
  return std::make_unique<KinetoProfiler>(device);
}

}  // namespace paceline::torch_plugin
