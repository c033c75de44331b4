// SPDX-License-Identifier: MIT
#include "fake_context.h"

#include <algorithm>
#include <cstring>

#include "fake_driver_calls.h"

namespace fake {
namespace {

using nvinfer1::DataType;
using nvinfer1::Dims;

int enqueued_count = 0, profiler_count = 0;

struct Argument {
  void* address;
  std::int64_t count;
  DataType type;
  bool on_host;
  std::vector<std::byte> kept{};  // of the host's inputs

  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(count) * size_of(type); }
};

template <typename T>
void twice(const void* from, std::int64_t given, void* to, std::int64_t wanted) {
  for (std::int64_t i = 0; i < wanted; ++i)
    static_cast<T*>(to)[i] = static_cast<T>(2 * static_cast<const T*>(from)[i % given]);
}

bool is_open(const Dims& dims) {
  for (int i = 0; i < dims.nbDims; ++i)
    if (dims.d[i] < 0) return true;
  return false;
}

bool is_within(const Dims& dims, const Dims& min, const Dims& max) {
  bool inside = dims.nbDims == min.nbDims;
  for (int i = 0; inside && i < dims.nbDims; ++i) inside = min.d[i] <= dims.d[i] && dims.d[i] <= max.d[i];
  return inside;
}

}  // namespace

struct ExecutionContext::Run {
  std::vector<std::pair<Argument, Argument>> pairs;  // an input, its output
  std::shared_ptr<int> computed;
  int failing_run, error;

  [[nodiscard]] int operator()() const {
    if (++*computed == failing_run) return error;
    for (const auto& [input, output] : pairs) {
      const void* from = input.kept.empty() ? reach(input.address, input.bytes(), true) : input.kept.data();
      void* to = reach(output.address, output.bytes(), !output.on_host);
      if (!from || !to) return kIllegalAddress;
      if (output.type == DataType::kFLOAT) twice<float>(from, input.count, to, output.count);
      if (output.type == DataType::kINT32) twice<std::int32_t>(from, input.count, to, output.count);
      if (output.type == DataType::kINT64) twice<std::int64_t>(from, input.count, to, output.count);
    }
    return kSuccess;
  }
};

int enqueued() {
  return enqueued_count;
}
int profilers() {
  return profiler_count;
}

ExecutionContext::ExecutionContext(const Plan& plan, nvinfer1::ILogger& logger, Context* home)
    : plan_(plan), logger_(logger), home_(home) {
  driver_call<int(std::uint64_t*, std::size_t)>("cuMemAlloc_v2")(&activations_, 4096);
}

ExecutionContext::~ExecutionContext() noexcept {
  setProfiler(nullptr);
  (void)runtime_context();
  driver_call<int(std::uint64_t)>("cuMemFree_v2")(activations_);
}

bool ExecutionContext::refuse(const std::string& why) const {
  logger_.log(nvinfer1::ILogger::Severity::kERROR, why.c_str());
  return false;
}

// Shapes belong to a profile.
bool ExecutionContext::setOptimizationProfileAsync(std::int32_t profile, cudaStream_t stream) noexcept {
  if (profile < 0 || profile >= static_cast<std::int32_t>(plan_.profiles.size()))
    return refuse("there is no such profile");
  profile_ = static_cast<std::size_t>(profile);
  shapes_.clear();
  inferred_.clear();
  ran_ = false;
  return launch(stream, {0, [] { return 0; }, {activations_}}) == kSuccess;
}

bool ExecutionContext::setInputShape(char const* name, Dims const& dims) noexcept {
  const auto* tensor = plan_.find(name);
  if (!tensor || !plan_.is_input(*tensor)) return refuse(std::string("there is no input ") + name);
  auto ranges = plan_.profiles.at(profile_);
  const bool is_ranged = ranges.count(name) > 0;
  if (is_ranged ? !is_within(dims, ranges[name]["min"], ranges[name]["max"])
                : !is_within(dims, tensor->dims, tensor->dims))
    return refuse(std::string("the shape is outside the profile: ") + name);
  shapes_[name] = dims;
  inferred_.clear();
  ran_ = false;
  return true;
}

Dims ExecutionContext::input_shape(const Tensor& input) const {
  const auto it = shapes_.find(input.name);
  return it == shapes_.end() ? input.dims : it->second;
}

// Depends on what the host holds there now; open without an address.
Dims ExecutionContext::output_shape(const Tensor& output) const {
  Dims dims = input_shape(plan_.source_of(output));
  if (!output.shaped_by.empty()) {
    const auto& shape = *plan_.find(output.shaped_by);
    dims.nbDims = static_cast<std::int32_t>(count_of(shape.dims));
    const auto it = addresses_.find(output.shaped_by);
    const auto bytes = static_cast<std::size_t>(dims.nbDims) * sizeof(std::int64_t);
    const void* values = it == addresses_.end() ? nullptr : reach(it->second, bytes, false);
    std::fill(dims.d, dims.d + dims.nbDims, -1);
    if (values) std::memcpy(dims.d, values, bytes);
  }
  if (plan_.data_dependent) dims.d[0] = -1;
  return dims;
}

void ExecutionContext::infer() const {
  if (!inferred_.empty()) return;
  for (const auto& output : plan_.outputs) inferred_[output.name] = output_shape(output);
}

Dims ExecutionContext::getTensorShape(char const* name) const noexcept {
  const auto* tensor = plan_.find(name);
  if (!tensor) return Dims{-1, {}};
  if (plan_.is_input(*tensor)) return input_shape(*tensor);
  infer();
  return inferred_.at(name);
}

std::int32_t ExecutionContext::inferShapes(std::int32_t, char const**) noexcept {
  std::int32_t missing = 0;
  for (const auto& input : plan_.inputs)
    missing += is_open(input_shape(input)) || (input.on_host && addresses_.count(input.name) == 0);
  inferred_.clear();
  infer();
  const bool are_invalid = std::any_of(plan_.outputs.begin(), plan_.outputs.end(), [&](const Tensor& output) {
    return !output.shaped_by.empty() && is_open(inferred_.at(output.name));
  });
  return missing == 0 && are_invalid ? -1 : missing;
}

bool ExecutionContext::setTensorAddress(char const* name, void* address) noexcept {
  if (!plan_.find(name)) return refuse(std::string("there is no tensor ") + name);
  addresses_[name] = address;
  return address != nullptr;
}

std::string ExecutionContext::problem_of(const Tensor& tensor) const {
  const auto it = addresses_.find(tensor.name);
  if (it == addresses_.end() || !it->second) return "no address was set for tensor " + tensor.name;
  const auto dims = plan_.is_input(tensor) ? input_shape(tensor) : output_shape(tensor);
  if (plan_.is_input(tensor) && is_open(dims)) return "no shape was set for input " + tensor.name;
  const auto bytes = static_cast<std::size_t>(count_of(dims)) * size_of(tensor.getType());
  if (tensor.on_host && !reach(it->second, bytes, false))
    return "tensor " + tensor.name + " is read on the host, and its address is the device's";
  return "";
}

std::string ExecutionContext::problem() const {
  if (runtime_context() != home_) return "the current device is not the plan's";
  for (const auto* tensors : {&plan_.inputs, &plan_.outputs})
    for (const auto& tensor : *tensors)
      if (auto words = problem_of(tensor); !words.empty()) return words;
  return runs_ == plan_.refused_run ? "not this time" : "";
}

std::shared_ptr<ExecutionContext::Run> ExecutionContext::make_run() const {
  auto run = std::make_shared<Run>(Run{{}, computed_, plan_.failing_run, plan_.kernel_error});
  for (const auto& output : plan_.outputs) {
    const auto& input = plan_.source_of(output);
    Argument from{addresses_.at(input.name), count_of(input_shape(input)), input.getType(), input.on_host};
    if (from.on_host) {
      const auto* bytes = static_cast<const std::byte*>(reach(from.address, from.bytes(), false));
      from.kept.assign(bytes, bytes + from.bytes());
    }
    run->pairs.push_back(
        {from,
         {addresses_.at(output.name), count_of(output_shape(output)), output.getType(), output.on_host}});
  }
  return run;
}

bool ExecutionContext::enqueueV3(cudaStream_t stream) noexcept {
  ++enqueued_count;
  ++runs_;
  const bool recorded = is_recorded(stream);
  if (recorded && (plan_.no_graph || !ran_ || profiler_)) {
    break_recording(stream);
    return refuse("this cannot be recorded");
  }
  if (const auto words = problem(); !words.empty()) return refuse(words);
  ran_ = ran_ || !recorded;
  driver_call<void(double)>("fake_host_works")(plan_.launch_ms);
  Work kernel{plan_.kernel_ms, [run = make_run()] { return (*run)(); }, {activations_}};
  for (const auto& [name, address] : addresses_)
    if (const auto block = block_of(address); block != 0) kernel.uses.push_back(block);
  if (launch(stream, kernel) != kSuccess) return refuse("the kernel cannot be launched");
  return !profiler_ || report_layers(stream);
}

// It waits for every layer.
bool ExecutionContext::report_layers(cudaStream_t stream) {
  if (wait_for(stream) != kSuccess) return refuse("the run ended with an error");
  profiler_->reportLayerTime("conv1", plan_.layer_ms[profiled_++ % plan_.layer_ms.size()]);
  return true;
}

void ExecutionContext::setProfiler(nvinfer1::IProfiler* profiler) noexcept {
  profiler_count += (profiler != nullptr) - (profiler_ != nullptr);
  profiler_ = profiler;
}

}  // namespace fake
