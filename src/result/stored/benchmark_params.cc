// SPDX-License-Identifier: MIT
#include "result/stored/benchmark_params.h"

#include "base/device.h"
#include "base/error.h"
#include "base/seconds.h"
#include "base/text.h"

namespace paceline::result {
namespace {

constexpr const char* kGap = "gap";

std::optional<std::string> param(const Benchmark& benchmark, const char* key) {
  const auto found = benchmark.params.find(key);
  return found == benchmark.params.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::map<std::string, std::string> parameters_of(const Benchmark& benchmark) {
  auto all = benchmark.params;
  if (!benchmark.device.empty()) all["device"] = benchmark.device;
  if (benchmark.gpus) all["gpus"] = std::to_string(*benchmark.gpus);
  if (benchmark.instances) all["instances"] = std::to_string(*benchmark.instances);
  if (!benchmark.fault.empty()) all["inject"] = benchmark.fault;
  return all;
}

void set_device(Benchmark& benchmark, std::string_view device) {
  benchmark.device = is_cpu(device) ? "" : device;
}

std::int64_t instances_per_gpu(const Benchmark& benchmark) {
  const auto text = param(benchmark, "instances_per_device");
  return text ? parse_int(*text).value_or(1) : 1;
}

std::string gap_text(const Benchmark& benchmark) {
  return param(benchmark, kGap).value_or("");
}

double gap_s(const Benchmark& benchmark) {
  return parse_seconds(gap_text(benchmark)).value_or(0);
}

Benchmark without_gap(Benchmark benchmark) {
  benchmark.params.erase(kGap);
  return benchmark;
}

std::int64_t gpu_at(const Benchmark& benchmark, std::int64_t place) {
  const auto named = param(benchmark, "devices");
  if (!named) return place;
  const auto numbers = split(*named, ',');
  return parse_int(numbers.at(static_cast<std::size_t>(place) % numbers.size())).value_or(place);
}

Benchmark identity_of(Benchmark benchmark) {
  benchmark.id.clear();
  for (const auto* found : {kPipeline, kSharded, kUnwrapped, kWithWaiting}) benchmark.params.erase(found);
  if (!benchmark.schedule.empty()) benchmark.params.erase("server.arrival");
  return benchmark;
}

Benchmark without_threads_per_instance(Benchmark benchmark) {
  benchmark.params.erase("threads_per_instance");
  return benchmark;
}

std::optional<Fault> fault_of(const Benchmark& benchmark) try {
  return benchmark.fault.empty() ? std::nullopt : std::optional(parse_fault(benchmark.fault));
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace paceline::result
