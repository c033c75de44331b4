// SPDX-License-Identifier: MIT
#include "torch/kineto_calls.h"

#include <cstdint>
#include <exception>
#include <set>
#include <string_view>
#include <utility>

#include "torch/errors.h"

namespace paceline::torch_plugin {
namespace {

namespace kineto = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

// libkineto::ActivityType, whose header some packages lack; traces contain the numbers, so they are fixed.
constexpr std::uint8_t kOperator = 0, kScope = 1, kCopy = 3, kSet = 4, kKernel = 5, kRuntime = 7, kDriver = 8;

torch::profiler::impl::ProfilerConfig kineto_configuration() {
  return torch::profiler::impl::ProfilerConfig(torch::profiler::impl::ProfilerState::KINETO,
                                               /*report_input_shapes=*/true, /*profile_memory=*/false,
                                               /*with_stack=*/false,
                                               /*with_flops=*/false, /*with_modules=*/false);
}

bool is_launch(const kineto::KinetoEvent& event) {
  return event.activityType() == kRuntime || event.activityType() == kDriver;
}

bool is_call(const kineto::KinetoEvent& event) {
  const auto type = event.activityType();
  const bool on_device = type == kCopy || type == kSet || type == kKernel;
  return event.deviceType() == c10::DeviceType::CPU ? type == kOperator || type == kScope || is_launch(event)
                                                    : on_device;
}

plugin_support::ProfiledCall call_of(const kineto::KinetoEvent& event, const std::set<std::string>& scopes) {
  plugin_support::ProfiledCall call;
  call.name = event.name();
  call.thread = event.startThreadId();
  call.start_ns = static_cast<std::int64_t>(event.startNs());
  call.end_ns = call.start_ns + static_cast<std::int64_t>(event.durationNs());
  call.on_device = event.deviceType() != c10::DeviceType::CPU;
  call.launches = is_launch(event);
  call.scope = event.activityType() == kScope && scopes.contains(call.name);
  call.beside = event.isAsync() || (event.activityType() == kScope && !call.scope);
  if (call.on_device || call.launches) call.launch = event.correlationId();
  if (call.on_device)
    call.started_by = event.linkedCorrelationId();
  else if (!call.launches)
    call.number = event.correlationId();
  return call;
}

}  // namespace

void start_kineto(c10::Device device) {
  std::set<ActivityType> activities{ActivityType::CPU};
  if (device.is_cuda()) activities.insert(ActivityType::CUDA);
  translate_errors(ErrorCode::kUnsupported, "Kineto cannot start", [&] {
    kineto::prepareProfiler(kineto_configuration(), activities);
    kineto::enableProfiler(
        kineto_configuration(), activities,
        {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE});
  });
}

void end_kineto_quietly() noexcept {
  try {
    kineto::disableProfiler();
  } catch (const std::exception&) {
    return;
  }
}

std::vector<plugin_support::ProfiledCall> calls_of(const kineto::ProfilerResult& seen,
                                                   const std::set<std::string>& scopes) {
  std::vector<plugin_support::ProfiledCall> calls;
  for (const auto& event : seen.events())
    if (is_call(event)) calls.push_back(call_of(event, scopes));
  return calls;
}

KinetoScope::KinetoScope(std::string name) : name_(std::move(name)), record_(at::RecordScope::USER_SCOPE) {
  if (record_.isActive()) record_.before(std::string_view(name_));
}

}  // namespace paceline::torch_plugin
