// SPDX-License-Identifier: MIT
#include "torch/cuda/cuda_engine.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "support/engine_checks.h"
#include "torch/aoti_program.h"
#include "torch/cuda/cuda_versions.h"
#include "torch/cuda/nvtx_range.h"
#include "torch/errors.h"
#include "torch/flop_counter.h"
#include "torch/kineto_layers.h"
#include "torch/program_factory.h"
#include "torch/refused_run.h"
#include "torch/threads.h"

namespace paceline::cuda_plugin {
namespace {

using torch_plugin::translate_errors;

constexpr std::string_view kFailedOnDevice = "the model failed on the device";
constexpr int kSettlingRuns = 2;  // TorchScript observes one run and rewrites the graph in the next

const char* on_off(bool on) {
  return on ? "on" : "off";
}

// CUDA returns milliseconds as a float, with a resolution of about half a microsecond.
double ns_between(const at::cuda::CUDAEvent& begin, const at::cuda::CUDAEvent& end) {
  return translate_errors(ErrorCode::kData, "the device's clock cannot be read",
                          [&] { return static_cast<double>(begin.elapsed_time(end)) * 1e6; });
}

plugin::ReadBack as_read_back(const torch_plugin::WorkByPrecision& work, const DeviceMemory& memory) {
  plugin::ReadBack result;
  double total = 0;
  for (const auto& [precision, amount] : work) total += amount.flops;
  for (const auto& [precision, amount] : work)
    result.precisions.push_back({precision, amount.flops / total, amount.operators});
  if (total > 0) result.flops = total;
  result.source = "LibTorch's dispatcher (RecordFunction), with the TF32 switch of each call";
  result.peak_tensor_bytes = memory.allocated_peak_bytes;
  result.peak_reserved_bytes = memory.reserved_peak_bytes;
  return result;
}

}  // namespace

plugin::EngineInfo CudaEngine::info() const {
  plugin::EngineInfo info{name_, library_versions(), {}};
  if (!program_) return info;
  const auto& context = at::globalContext();
  info.settings = {{"device", fmt::format("cuda:{}", device_)},
                   {"device_name", device_info_.name},
                   {"compute_capability",
                    fmt::format("{}.{}", device_info_.capability / 10, device_info_.capability % 10)},
                   {"precision", std::string(switches_.precision.name)},
                   {"autocast", on_off(switches_.precision.autocast)},
                   {"tf32_products", on_off(context.allowTF32CuBLAS())},
                   {"tf32_convolutions", on_off(context.allowTF32CuDNN())},
                   {"cudnn_benchmark", on_off(context.benchmarkCuDNN())},
                   {"memory_format", form_.channels_last ? "channels_last" : "contiguous"},
                   {"threads", std::to_string(torch_plugin::running_threads())},
                   {"cuda_graph", on_off(switches_.cuda_graph)},
                   {"overlap", on_off(switches_.overlap)},
                   {"io", io_in_words(switches_.io)},
                   {"inference_mode", "on"}};
  info.device_clock = true;
  for (auto& setting : settings_of(*program_)) info.settings.push_back(std::move(setting));
  return info;
}

void CudaEngine::load(const plugin::ModelSpec& model, const plugin::EngineSettings& settings) {
  auto options = settings.options;
  const auto device = options.extract("device");
  device_ = device_index(device ? device.mapped() : "cuda:0", count_devices());
  device_info_ = describe_device(device_);
  switches_ = choose_switches(settings.precision, options, device_info_.capability);
  form_ = {switches_.precision.autocast ? at::kFloat : switches_.precision.dtype,
           torch_plugin::wants_channels_last(settings.layout),
           at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device_))};
  at::set_num_threads(std::max(settings.threads, 1));
  apply(switches_);
  inputs_ = model.inputs;
  slots_.clear();
  program_.reset();
  const auto stream = [&] { return c10::cuda::getStreamFromPool(false, form_.device.index()); };
  stream_ = stream();
  to_device_ = switches_.overlap ? stream() : *stream_;
  to_host_ = switches_.overlap ? stream() : *stream_;
  const c10::cuda::CUDAStreamGuard guard(*stream_);
  const auto& what = model.name.empty() ? model.file : model.name;
  program_ = translate_errors(ErrorCode::kData, fmt::format("cannot prepare model '{}'", what),
                              [&] { return build(model, settings.threads); });
}

std::unique_ptr<torch_plugin::Program> CudaEngine::build(const plugin::ModelSpec& model, int threads) const {
  if (compilation_ == Compilation::kAotInductor)
    return torch_plugin::load_package(
        model, {std::string(switches_.precision.name), form_.device, device_info_.capability});
  return torch_plugin::build_program(model, compilation_ == Compilation::kTorchScript, threads,
                                     switches_.precision, form_,
                                     {.allow_tf32 = switches_.tf32, .benchmark = switches_.cudnn_benchmark});
}

void CudaEngine::bind(plugin::Slot slot, std::span<const TensorView> inputs) {
  if (!program_) throw Error(ErrorCode::kInternal, "bind before load");
  const c10::cuda::CUDAStreamGuard guard(*stream_);
  slots_.bind(slot, inputs.size(), inputs_.size(), [&](SlotState& state) {
    if (state.memories.empty()) state.memories = std::vector<Memory>(switches_.overlap ? 2 : 1);
    translate_errors(ErrorCode::kData, "the inputs cannot be copied to the device", [&] {
      for (auto& memory : state.memories) {
        const bool same_tensors = memory.copies.bind(inputs, inputs_, form_, switches_.io);
        if (!same_tensors) memory.graph.reset();
      }
    });
  });
}

void CudaEngine::launch(Memory& memory) {
  const NvtxRange range("forward");
  if (!switches_.cuda_graph) return program_->run(memory.copies.inputs(), memory.outputs);
  if (!memory.graph) memory.graph = record_graph(*program_, memory.copies.inputs(), memory.outputs, *stream_);
  memory.graph->replay();
}

// Where copies overlap, the model that read these inputs before has to be over, and the model waits for them.
void CudaEngine::send(SlotState& state) {
  auto& memory = state.last();
  if (!memory.copies.sends()) return;
  const NvtxRange range("H2D");
  const c10::cuda::CUDAStreamGuard guard(*to_device_);
  if (switches_.overlap) memory.ran.block(*to_device_);
  state.sending.record(*to_device_);
  memory.copies.send();
  if (!switches_.overlap) return;
  memory.sent.record(*to_device_);
  memory.sent.block(*stream_);
}

// Where copies overlap, they wait for the model, and the next one in the same memory waits for them.
void CudaEngine::fetch(SlotState& state) {
  const NvtxRange range("D2H");
  auto& memory = state.last();
  const c10::cuda::CUDAStreamGuard guard(*to_host_);
  if (switches_.overlap) {
    memory.ran.block(*to_host_);
    state.fetching.record(*to_host_);
  }
  (void)memory.copies.fetch(memory.outputs);
  memory.fetched.record(*to_host_);
}

void CudaEngine::enqueue(plugin::Slot slot) {
  auto& state = slots_.bound(slot);
  state.turn = (state.turn + 1) % state.memories.size();
  auto& memory = state.last();
  const NvtxRange step("step");
  const c10::InferenceMode inference;
  const c10::cuda::CUDAStreamGuard guard(*stream_);
  try {
    send(state);
    if (switches_.overlap) memory.fetched.block(*stream_);
    (state.started++ == 0 ? state.begin : state.later_begin).record(*stream_);
    launch(memory);
    state.end.record(*stream_);
    if (switches_.overlap) memory.ran.record(*stream_);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    if (torch_plugin::out_of_memory(e)) throw std::bad_alloc();
    throw torch_plugin::refused_run(e, switches_.precision);
  }
  if (switches_.io == Io::kNone) return;
  translate_errors(ErrorCode::kData, std::string(kFailedOnDevice), [&] { fetch(state); });
}

std::span<const TensorView> CudaEngine::synchronize(plugin::Slot slot) {
  auto& state = slots_.bound(slot);
  state.waited_for = std::exchange(state.started, 0);
  const c10::InferenceMode inference;
  translate_errors(ErrorCode::kData, std::string(kFailedOnDevice), [&] {
    (switches_.io == Io::kNone ? stream_ : to_host_)->synchronize();
    if (switches_.io != Io::kNone)
      torch_plugin::describe_outputs(state.last().copies.fetched(), state.views, program_->output_names);
  });
  if (switches_.io == Io::kNone) return {};
  return state.views;
}

std::span<const TensorView> CudaEngine::fetch_outputs(plugin::Slot slot) {
  auto& state = slots_.bound(slot);
  const c10::InferenceMode inference;
  const c10::cuda::CUDAStreamGuard guard(*stream_);
  translate_errors(ErrorCode::kData, std::string(kFailedOnDevice), [&] {
    auto& on_host = state.last().copies.fetch(state.last().outputs);
    stream_->synchronize();
    torch_plugin::describe_outputs(on_host, state.views, program_->output_names);
  });
  return state.views;
}

// Runs operator by operator even where inferences replay a graph, whose replay hides its operators.
plugin::ReadBack CudaEngine::read_back(plugin::Slot slot) {
  auto& state = slots_.bound(slot);
  const c10::InferenceMode inference;
  const c10::cuda::CUDAStreamGuard guard(*stream_);
  return translate_errors(ErrorCode::kData, std::string(kFailedOnDevice), [&] {
    std::vector<at::Tensor> outputs;
    for (int settle = 0; settle < kSettlingRuns; ++settle)
      program_->run(state.last().copies.inputs(), outputs);
    stream_->synchronize();
    outputs.clear();
    reset_memory_peak(device_);
    const torch_plugin::FlopCounter counter;
    program_->run(state.last().copies.inputs(), outputs);
    stream_->synchronize();
    auto result = as_read_back(counter.total(), memory_peak(device_));
    if (program_->countable())
      result.bytes = counter.bytes(), result.layers = counter.layers();
    else
      result.flops.reset();
    result.note = program_->arithmetic_note();
    return result;
  });
}

// Inferences run as they are timed, copies and CUDA graphs included. Graphs are recorded again, because CUPTI
// need not see the kernels of one that is older than the profiler.
plugin::LayerTimes CudaEngine::profile(plugin::Slot slot, int inferences) {
  for (auto& memory : slots_.bound(slot).memories) memory.graph.reset();
  return torch_plugin::kineto_layers(program_->weights(), form_.device, inferences, [&] {
    enqueue(slot);
    static_cast<void>(synchronize(slot));
  });
}

std::optional<double> CudaEngine::device_ns(plugin::Slot slot) const {
  const auto* state = slots_.find(slot);
  if (!state || !state->end.isCreated()) return std::nullopt;
  return ns_between(state->begin, state->end);
}

plugin::PartTimes CudaEngine::part_ns(plugin::Slot slot) const {
  plugin::PartTimes times;
  const auto* state = slots_.find(slot);
  if (!state || !state->end.isCreated()) return times;
  const auto& begin = state->waited_for > 1 ? state->later_begin : state->begin;
  const auto& memory = state->memories[state->turn];
  if (memory.copies.sends())
    times.inputs_ns = ns_between(state->sending, switches_.overlap ? memory.sent : begin);
  times.model_ns = ns_between(begin, state->end);
  if (switches_.io != Io::kNone)
    times.outputs_ns = ns_between(switches_.overlap ? state->fetching : state->end, memory.fetched);
  return times;
}

void CudaEngine::flush_caches() {
  if (device_info_.l2_bytes <= 0)
    throw Error(ErrorCode::kUnsupported,
                "the device does not say how large its L2 cache is; use cache_mode: warm");
  const c10::cuda::CUDAStreamGuard guard(*stream_);
  translate_errors(ErrorCode::kData, "the device's cache cannot be emptied", [&] {
    if (!scratch_.defined())
      scratch_ =
          at::empty({device_info_.l2_bytes}, at::TensorOptions().dtype(at::kByte).device(form_.device));
    scratch_.zero_();
    stream_->synchronize();
  });
}

}  // namespace paceline::cuda_plugin
