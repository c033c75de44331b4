// SPDX-License-Identifier: MIT
// Stands in for libnvinfer.so: a builder that writes down what it was told, and engines of its plans.
#include <memory>

#include "fake_context.h"
#include "fake_driver_calls.h"

namespace {

using namespace nvinfer1;

struct Memory : IHostMemory {
  std::string bytes;
  explicit Memory(std::string content) : bytes(std::move(content)) {}
  void* data() const noexcept override { return const_cast<char*>(bytes.data()); }
  std::size_t size() const noexcept override { return bytes.size(); }
};

struct Cache : ITimingCache {
  std::string bytes;
  IHostMemory* serialize() const noexcept override { return new Memory("times+" + bytes); }
};

std::string words_of(const Dims& dims) {
  std::string words;
  for (int i = 0; i < dims.nbDims; ++i) words += " " + std::to_string(dims.d[i]);
  return words;
}

struct Profile : IOptimizationProfile {
  std::map<std::string, std::map<OptProfileSelector, Dims>> ranges;
  bool setDimensions(char const* input, OptProfileSelector select, Dims const& dims) noexcept override {
    if (dims.nbDims < 1) return false;
    ranges[input][select] = dims;
    return true;
  }
  [[nodiscard]] bool rises() const {
    for (const auto& [input, dims] : ranges)
      for (int i = 0; i < dims.at(OptProfileSelector::kMIN).nbDims; ++i)
        if (dims.at(OptProfileSelector::kMIN).d[i] > dims.at(OptProfileSelector::kMAX).d[i]) return false;
    return true;
  }
};

struct Config : IBuilderConfig {
  ILogger& logger;
  std::map<BuilderFlag, bool> flags{{BuilderFlag::kTF32, true}};
  std::size_t workspace = std::size_t{1} << 40;
  DeviceType device = DeviceType::kGPU;
  int core = -1;
  ProfilingVerbosity verbosity = ProfilingVerbosity::kLAYER_NAMES_ONLY;
  std::vector<const Profile*> profiles;
  const ITimingCache* cache = nullptr;
  explicit Config(ILogger& to) : logger(to) {}

  void setFlag(BuilderFlag flag) noexcept override { flags[flag] = true; }
  void clearFlag(BuilderFlag flag) noexcept override { flags[flag] = false; }
  bool getFlag(BuilderFlag flag) const noexcept override { return flags.count(flag) && flags.at(flag); }
  void setMemoryPoolLimit(MemoryPoolType, std::size_t bytes) noexcept override { workspace = bytes; }
  std::size_t getMemoryPoolLimit(MemoryPoolType) const noexcept override { return workspace; }
  void setDefaultDeviceType(DeviceType type) noexcept override { device = type; }
  DeviceType getDefaultDeviceType() const noexcept override { return device; }
  void setDLACore(std::int32_t index) noexcept override { core = index; }
  std::int32_t getDLACore() const noexcept override { return core; }
  void setProfilingVerbosity(ProfilingVerbosity level) noexcept override { verbosity = level; }
  ProfilingVerbosity getProfilingVerbosity() const noexcept override { return verbosity; }
  std::int32_t addOptimizationProfile(IOptimizationProfile const* profile) noexcept override {
    const auto* added = static_cast<const Profile*>(profile);
    if (!added->rises()) return -1;
    profiles.push_back(added);
    return static_cast<std::int32_t>(profiles.size()) - 1;
  }
  std::int32_t getNbOptimizationProfiles() const noexcept override {
    return static_cast<std::int32_t>(profiles.size());
  }
  ITimingCache* createTimingCache(void const* bytes, std::size_t size) const noexcept override {
    auto made = std::make_unique<Cache>();
    made->bytes.assign(static_cast<const char*>(bytes), size);
    if (size == 0 || made->bytes.starts_with("times")) return made.release();
    logger.log(ILogger::Severity::kWARNING,
               "Failed to deserialize timing cache. Returning an empty timing cache.");
    return new Cache();
  }
  bool setTimingCache(ITimingCache const& given, bool) noexcept override {
    cache = &given;
    return true;
  }
  ITimingCache const* getTimingCache() const noexcept override { return cache; }
};

struct Builder : IBuilder {
  ILogger& logger;
  std::vector<std::unique_ptr<Profile>> profiles;
  int device = fake::runtime_context()->device;
  explicit Builder(ILogger& to) : logger(to) {}

  INetworkDefinition* createNetworkV2(NetworkDefinitionCreationFlags flags) noexcept override {
    auto network = std::make_unique<fake::Network>();
#if NV_TENSORRT_MAJOR < 11
    network->strongly_typed =
        (flags >> static_cast<int>(NetworkDefinitionCreationFlag::kSTRONGLY_TYPED) & 1U) != 0;
#else
    (void)flags;
#endif
    return network.release();
  }
  IBuilderConfig* createBuilderConfig() noexcept override {
    return new Config(logger);
  }
  IOptimizationProfile* createOptimizationProfile() noexcept override {
    return profiles.emplace_back(std::make_unique<Profile>()).get();
  }
  std::int32_t getNbDLACores() const noexcept override {
    return NV_TENSORRT_MAJOR < 11 ? 2 : 0;
  }

  IHostMemory* buildSerializedNetwork(INetworkDefinition& definition,
                                      IBuilderConfig& settings) noexcept override {
    const auto& network = static_cast<fake::Network&>(definition);
    logger.log(ILogger::Severity::kVERBOSE, "a detail");
    logger.log(ILogger::Severity::kINFO, "building");
    for (const auto& line : network.lines)
      if (line.starts_with("build_error ")) {
        logger.log(ILogger::Severity::kERROR, line.substr(12).c_str());
        return nullptr;
      }
    return new Memory(plan_of(network, static_cast<Config&>(settings)) + "built_on " +
                      std::to_string(device) + "\n");
  }

  static std::string plan_of(const fake::Network& network, const Config& config) {
    std::string plan = std::string("ftrt") + std::string(20, '\0') +
                       std::string{NV_TENSORRT_MAJOR, NV_TENSORRT_MINOR, NV_TENSORRT_PATCH, 0};
    for (const auto& line : network.lines) plan += line + "\n";
    for (std::size_t i = 0; i < config.profiles.size(); ++i)
      for (const auto& [input, dims] : config.profiles[i]->ranges)
        plan += "profile " + std::to_string(i) + " " + input + " min" +
                words_of(dims.at(OptProfileSelector::kMIN)) + " opt" +
                words_of(dims.at(OptProfileSelector::kOPT)) + " max" +
                words_of(dims.at(OptProfileSelector::kMAX)) + "\n";
    return plan + "strongly_typed " + std::to_string(network.strongly_typed) + "\n";
  }
};

struct Inspector : IEngineInspector {
  const fake::Plan& plan;
  explicit Inspector(const fake::Plan& of) : plan(of) {}
  bool setExecutionContext(IExecutionContext const*) noexcept override { return true; }
  char const* getEngineInformation(LayerInformationFormat) const noexcept override {
    return plan.inspector == "none" ? nullptr : plan.inspector.c_str();
  }
};

struct Engine : ICudaEngine {
  fake::Plan plan;
  ILogger& logger;
  fake::Context* home = fake::runtime_context();
  Engine(const std::string& text, ILogger& to) : plan(text), logger(to) {}

  std::int32_t getNbIOTensors() const noexcept override {
    return static_cast<std::int32_t>(plan.inputs.size() + plan.outputs.size());
  }
  char const* getIOTensorName(std::int32_t index) const noexcept override {
    const auto i = static_cast<std::size_t>(index);
    return (i < plan.inputs.size() ? plan.inputs[i] : plan.outputs[i - plan.inputs.size()]).name.c_str();
  }
  TensorIOMode getTensorIOMode(char const* name) const noexcept override {
    const auto* tensor = plan.find(name);
    if (!tensor) return TensorIOMode::kNONE;
    return plan.is_input(*tensor) ? TensorIOMode::kINPUT : TensorIOMode::kOUTPUT;
  }
  DataType getTensorDataType(char const* name) const noexcept override {
    return plan.find(name) ? plan.find(name)->getType() : DataType::kFLOAT;
  }
  TensorLocation getTensorLocation(char const* name) const noexcept override {
    return plan.find(name) && plan.find(name)->on_host ? TensorLocation::kHOST : TensorLocation::kDEVICE;
  }
  Dims getTensorShape(char const* name) const noexcept override {
    return plan.find(name) ? plan.find(name)->dims : Dims{-1, {}};
  }
  std::int32_t getNbOptimizationProfiles() const noexcept override {
    return static_cast<std::int32_t>(plan.profiles.size());
  }
  // Returns those of the input if they are fixed; none for what the host holds, unless it has a range.
  Dims getProfileShape(char const* name, std::int32_t profile,
                       OptProfileSelector select) const noexcept override {
    constexpr const char* kWords[] = {"min", "opt", "max"};
    const auto& ranges = plan.profiles.at(static_cast<std::size_t>(profile));
    const auto it = ranges.find(name);
    if (it != ranges.end()) return it->second.at(kWords[static_cast<int>(select)]);
    const auto* input = plan.find(name);
    return input && !input->on_host ? input->dims : Dims{-1, {}};
  }
  std::int64_t getDeviceMemorySizeV2() const noexcept override { return 4096; }
  IExecutionContext* createExecutionContext() noexcept override {
    if (fake::runtime_context() == home) return new fake::ExecutionContext(plan, logger, home);
    logger.log(ILogger::Severity::kERROR, "the current device is not the plan's");
    return nullptr;
  }
  IEngineInspector* createEngineInspector() const noexcept override { return new Inspector(plan); }
};

struct Runtime : IRuntime {
  ILogger& logger;
  explicit Runtime(ILogger& to) : logger(to) {}
  ICudaEngine* deserializeCudaEngine(void const* bytes, std::size_t size) noexcept override {
    const std::string text(static_cast<const char*>(bytes), size);
    auto engine = std::make_unique<Engine>(text.substr(28), logger);
    if (engine->plan.load_error.empty()) return engine.release();
    logger.log(ILogger::Severity::kERROR, engine->plan.load_error.c_str());
    return nullptr;
  }
};

}  // namespace

extern "C" int fake_enqueued() {
  return fake::enqueued();
}
extern "C" int fake_profilers() {
  return fake::profilers();
}
extern "C" int getInferLibMajorVersion() {
  return NV_TENSORRT_MAJOR;
}
extern "C" int getInferLibMinorVersion() {
  return NV_TENSORRT_MINOR;
}
extern "C" int getInferLibPatchVersion() {
  return NV_TENSORRT_PATCH;
}
extern "C" int getInferLibVersion() {
  return NV_TENSORRT_MAJOR * 10000 + NV_TENSORRT_MINOR * 100 + NV_TENSORRT_PATCH;
}
// The real one is refused too when it is asked for another version.
extern "C" void* createInferBuilder_INTERNAL(void* logger, int version) {
  return version == getInferLibVersion() ? new Builder(*static_cast<ILogger*>(logger)) : nullptr;
}
extern "C" void* createInferRuntime_INTERNAL(void* logger, int version) {
  return version == getInferLibVersion() ? new Runtime(*static_cast<ILogger*>(logger)) : nullptr;
}
