// SPDX-License-Identifier: MIT
#include "tensorrt/plan_engine.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "support/engine_checks.h"
#include "support/layer_medians.h"
#include "tensorrt/inspector.h"
#include "tensorrt/library.h"
#include "tensorrt/plan_file.h"
#include "tensorrt/tensors.h"
#include "tensorrt/versions.h"

namespace paceline::tensorrt_plugin {
namespace {

constexpr const char* kIo = "io";
constexpr const char* kCudaGraph = "cuda_graph";
constexpr const char* kOverlap = "overlap";
constexpr std::array<std::string_view, 4> kEngineOptions{kDeviceOption, kIo, kCudaGraph, kOverlap};
constexpr std::array<std::string_view, 2> kSuffixes{".plan", ".engine"};
// The plan determines the precision; the one that ran is read back.
constexpr std::array<std::string_view, 5> kEnginePrecisions{"fp32", "tf32", "fp16", "bf16", "int8"};

// The CUDA version of the driver's interface, which differs from the driver's own version.
std::string driver_api_version() {
  int version = 0;
  check(driver().version(&version), "cannot ask the driver");
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

struct IoRow {
  Io io;
  std::string_view name, words;
};
constexpr std::array<IoRow, 4> kIoRows{{
    {Io::kDevice, "device", "inputs on the device, outputs copied to pinned memory"},
    {Io::kPinned, "pinned", "inputs and outputs copied from and to pinned memory"},
    {Io::kPageable, "pageable", "inputs and outputs copied from and to pageable memory"},
    {Io::kNone, "none", "inputs and outputs on the device, nothing is copied"},
}};

std::string io_in_words(Io io) {
  return std::string(kIoRows.at(static_cast<std::size_t>(io)).words);
}

Io io_named(const std::string& name) {
  for (const auto& row : kIoRows)
    if (row.name == name) return row.io;
  throw Error(ErrorCode::kUsage, fmt::format("io '{}': write device, pinned, pageable or none", name));
}

bool is_on(const std::map<std::string, std::string>& options, const char* name) {
  const auto it = options.find(name);
  if (it == options.end() || it->second == "false") return false;
  if (it->second == "true") return true;
  throw Error(ErrorCode::kUsage, fmt::format("{} '{}': write true or false", name, it->second));
}

Launch launch_of(const std::map<std::string, std::string>& options) {
  Launch launch;
  if (const auto it = options.find(kIo); it != options.end()) launch.io = io_named(it->second);
  launch.graph = is_on(options, kCudaGraph);
  launch.overlap = is_on(options, kOverlap);
  return launch;
}

// Times of the layers in each inference, in the order in which they ended.
class LayerClock : public nvinfer1::IProfiler {
 public:
  void reportLayerTime(const char* name, float ms) noexcept override {
    try {
      runs_.back().push_back({name, "", "", double{ms} * 1e6, {}});
    } catch (...) {  // the layer has no time then
    }
  }
  void clear() { runs_.clear(); }
  void next_inference() { runs_.emplace_back(); }
  // A layer that ran several times per inference counts as their sum.
  [[nodiscard]] std::map<std::string, double> medians_ns() {
    std::map<std::string, double> times;
    for (const auto& layer : plugin_support::with_median_times(std::move(runs_)))
      times[layer.name] += *layer.time_ns;
    return times;
  }

 private:
  std::vector<std::vector<plugin::Layer>> runs_;
};

// Sets the profiler of a context and removes it even after an error, so that later inferences do not call it.
class ClockInUse {
 public:
  ClockInUse(nvinfer1::IExecutionContext& context, LayerClock& clock) : context_(context) {
    context_.setProfiler(&clock);
  }
  ~ClockInUse() { context_.setProfiler(nullptr); }
  ClockInUse(const ClockInUse&) = delete;
  ClockInUse& operator=(const ClockInUse&) = delete;

 private:
  nvinfer1::IExecutionContext& context_;
};

}  // namespace

plugin::EngineInfo PlanEngine::info() const {
  plugin::EngineInfo info{"tensorrt", library_versions(), {}};
  if (!engine_) return info;
  info.versions.emplace_back("CUDA driver API", driver_api_version());
  info.settings = {
      {"library", library().title()},
      {"device", fmt::format("cuda:{}", gpu_->index())},
      {"device_name", gpu_->name()},
      {"compute_capability", gpu_->capability()},
      {"profile", fmt::format("{} of {}", profile_ + 1, profiles_.size())},
      {"activation_memory_bytes", std::to_string(activation_bytes(*engine_))},
      {"io", io_in_words(launch_.io)},
      {"cuda_graph", launch_.graph ? "on" : "off"},
      {"overlap", launch_.overlap ? "on" : "off"},
  };
  info.device_clock = true;
  return info;
}

std::vector<DeclaredInput> PlanEngine::file_inputs(const std::string& file) {
  const auto bytes = read_file(file);
  check_plan(file, bytes, library());
  close_plan();
  gpu_.emplace("cuda:0");
  open_plan(file, bytes);
  std::vector<DeclaredInput> inputs;
  const auto profiles = plan_profiles(*engine_);  // must outlive the loop over one of them
  for (const auto& range : profiles.at(0))
    inputs.push_back(
        {range.input, from_tensorrt(engine_->getTensorDataType(range.input.c_str())), range.opt, {}});
  return inputs;
}

void PlanEngine::load(const plugin::ModelSpec& model, const plugin::EngineSettings& settings) {
  const auto file = plugin_support::model_file(model, "tensorrt", kSuffixes);
  plugin_support::check_settings(settings, "tensorrt", kEnginePrecisions);
  plugin_support::check_options(settings.options, "tensorrt", kEngineOptions);
  launch_ = launch_of(settings.options);
  const auto bytes = read_file(file);
  check_plan(file, bytes, library());
  close_plan();
  model_ = model;
  const auto device = settings.options.find(kDeviceOption);
  gpu_.emplace(device == settings.options.end() ? "cuda:0" : device->second);
  open_plan(file, bytes);
  plugin_support::check_inputs(file, declared_inputs(*engine_), model_.inputs);
  profiles_ = plan_profiles(*engine_);
  profile_ = fitting_profile(profiles_, model_.inputs);
  outputs_ = plan_outputs(*engine_);
}

// The thread that destroys the engine may never have used the device.
void PlanEngine::close_plan() noexcept {
  if (gpu_) gpu_->use_if_possible();
  slots_.clear();
  engine_.reset();
  runtime_.reset();
}

void PlanEngine::open_plan(const std::string& file, const std::string& bytes) {
  log_.reset();
  runtime_ = library().make_runtime(log_);
  if (!runtime_)
    throw Error(ErrorCode::kUnavailable,
                fmt::format("{} cannot start: {}", library().title(), log_.reason()));
  engine_.reset(runtime_->deserializeCudaEngine(bytes.data(), bytes.size()));
  if (!engine_)
    throw Error(ErrorCode::kData,
                fmt::format("{} cannot load '{}': {}; build it again with this version and for this GPU",
                            library().title(), file, log_.reason()));
}

void PlanEngine::bind(plugin::Slot slot, std::span<const TensorView> inputs) {
  if (!engine_) throw Error(ErrorCode::kInternal, "bind before load");
  gpu_->use();
  slots_.bind(slot, inputs.size(), model_.inputs.size(), [&](std::unique_ptr<PlanSlot>& state) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      plugin_support::check_tensor(inputs[i], model_.inputs[i], {});
    if (!state)
      state = std::make_unique<PlanSlot>(*engine_, profile_, model_.inputs, outputs_, launch_, log_);
    state->set_inputs(inputs);
  });
}

PlanSlot& PlanEngine::bound(plugin::Slot slot) {
  auto& state = slots_.bound(slot);
  gpu_->use();
  return *state;
}

void PlanEngine::enqueue(plugin::Slot slot) {
  bound(slot).start();
}

std::span<const TensorView> PlanEngine::synchronize(plugin::Slot slot) {
  return bound(slot).wait();
}

// The layers with the shapes of this case. Throws Error(kData) where the inspector returns no text.
std::vector<plugin_support::LayerWork> PlanEngine::layers(PlanSlot& slot) const {
  const std::unique_ptr<nvinfer1::IEngineInspector> inspector(engine_->createEngineInspector());
  const bool is_ready = inspector && inspector->setExecutionContext(&slot.context());
  const char* text =
      is_ready ? inspector->getEngineInformation(nvinfer1::LayerInformationFormat::kJSON) : nullptr;
  if (!text)
    throw Error(ErrorCode::kData,
                fmt::format("the engine inspector has no text for this plan: {}", log_.reason()));
  return inspected_layers(text);
}

std::span<const TensorView> PlanEngine::fetch_outputs(plugin::Slot slot) {
  return bound(slot).outputs();
}

plugin::ReadBack PlanEngine::read_back(plugin::Slot slot) {
  auto& state = bound(slot);
  state.start_without_graph();
  (void)state.wait();
  return plugin_support::read_back_of(layers(state), "TensorRT's engine inspector: type that a layer reads");
}

plugin::LayerTimes PlanEngine::profile(plugin::Slot slot, int inferences) {
  auto& state = bound(slot);
  LayerClock clock;
  const ClockInUse in_use(state.context(), clock);
  for (int i = -1; i < inferences; ++i) {
    if (i == 0) clock.clear();  // the first inference may still load kernels
    clock.next_inference();
    state.start_without_graph();
    (void)state.wait();
  }
  const auto medians = clock.medians_ns();
  plugin::LayerTimes times{{}, "TensorRT's profiler, which waits for every layer"};
  for (auto& work : layers(state)) {
    if (const auto it = medians.find(work.layer.name); it != medians.end()) work.layer.time_ns = it->second;
    times.layers.push_back(std::move(work.layer));
  }
  return times;
}

std::optional<double> PlanEngine::device_ns(plugin::Slot slot) const {
  const auto* state = slots_.find(slot);
  if (!state) return std::nullopt;
  gpu_->use();
  return (*state)->device_ns();
}

plugin::PartTimes PlanEngine::part_ns(plugin::Slot slot) const {
  const auto* state = slots_.find(slot);
  if (!state) return {};
  gpu_->use();
  return (*state)->part_ns();
}

}  // namespace paceline::tensorrt_plugin
