// SPDX-License-Identifier: MIT
#include "result/stored/benchmark_params.h"

#include <utility>

#include "base/device.h"
#include "base/error.h"
#include "base/text.h"

namespace paceline::result {
namespace {

constexpr const char *kDevice = "device", *kGpus = "gpus", *kInstances = "instances",
                     *kInstancesPerDevice = "instances_per_device", *kDevices = "devices",
                     *kThreadsPerInstance = "threads_per_instance", *kFault = "inject";

std::optional<std::string> param(const Benchmark& benchmark, const char* key) {
  const auto found = benchmark.params.find(key);
  return found == benchmark.params.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> number(const Benchmark& benchmark, const char* key) {
  const auto text = param(benchmark, key);
  return text ? parse_int(*text) : std::nullopt;
}

Benchmark without(Benchmark benchmark, const char* key) {
  benchmark.params.erase(key);
  return benchmark;
}

}  // namespace

std::optional<std::string> device_of(const Benchmark& benchmark) {
  return param(benchmark, kDevice);
}

void set_device(Benchmark& benchmark, std::string_view device) {
  benchmark.params.erase(kDevice);
  if (!is_cpu(device)) benchmark.params[kDevice] = device;
}

std::optional<std::int64_t> gpus_of(const Benchmark& benchmark) {
  return number(benchmark, kGpus);
}

std::optional<std::int64_t> instances_of(const Benchmark& benchmark) {
  return number(benchmark, kInstances);
}

std::int64_t instances_per_gpu(const Benchmark& benchmark) {
  return number(benchmark, kInstancesPerDevice).value_or(1);
}

std::int64_t gpu_at(const Benchmark& benchmark, std::int64_t place) {
  const auto named = param(benchmark, kDevices);
  if (!named) return place;
  const auto numbers = split(*named, ',');
  return parse_int(numbers.at(static_cast<std::size_t>(place) % numbers.size())).value_or(place);
}

Benchmark without_gpus(Benchmark benchmark) {
  return without(std::move(benchmark), kGpus);
}

Benchmark without_instances(Benchmark benchmark) {
  return without(std::move(benchmark), kInstances);
}

Benchmark without_threads_per_instance(Benchmark benchmark) {
  return without(std::move(benchmark), kThreadsPerInstance);
}

std::string fault_text(const Benchmark& benchmark) {
  return param(benchmark, kFault).value_or("");
}

std::optional<Fault> fault_of(const Benchmark& benchmark) try {
  const auto text = param(benchmark, kFault);
  return text ? std::optional(parse_fault(*text)) : std::nullopt;
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace paceline::result
