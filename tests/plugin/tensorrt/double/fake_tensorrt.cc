// SPDX-License-Identifier: MIT
// Stands in for libnvinfer.so: a builder that writes down what it was told, and an engine that doubles its
// first input.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>

#include "fake_model.h"
#include "fake_stream.h"

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
    return new Memory(plan_of(network, static_cast<Config&>(settings)));
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

struct Plan {
  std::vector<fake::Tensor> inputs, outputs;
  std::vector<std::map<std::string, std::map<std::string, Dims>>> profiles;  // by input, by min | opt | max
  std::string inspector, load_error;
  std::vector<float> layer_ms{0.25F};  // what the profiler is told, one an inference, from the start again
  bool data_dependent = false, no_graph = false;

  explicit Plan(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) read_line(line);
  }
  void read_line(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "input") inputs.push_back(fake::read_tensor(words));
    if (what == "output") outputs.push_back(fake::read_tensor(words));
    if (what == "inspector") inspector = fake::rest_of(words);
    if (what == "load_error") load_error = fake::rest_of(words);
    if (what == "data_dependent") data_dependent = true;
    if (what == "no_graph") no_graph = true;
    if (what == "layer_ms") layer_ms.assign(std::istream_iterator<float>(words), {});
    if (what == "profile") read_profile(words);
  }
  void read_profile(std::istream& words) {
    std::size_t index = 0;
    std::string input, which;
    words >> index >> input;
    if (profiles.size() <= index) profiles.resize(index + 1);
    for (std::string word; words >> word;)
      if (word == "min" || word == "opt" || word == "max")
        which = word;
      else
        add(profiles[index][input][which], std::stoll(word));
  }
  static void add(Dims& dims, std::int64_t extent) { dims.d[dims.nbDims++] = extent; }
};

int enqueued = 0;  // in this process

struct ExecutionContext : IExecutionContext {
  const Plan& plan;
  Dims shape{};
  std::map<std::string, void*> memory;
  IProfiler* profiler = nullptr;
  std::size_t profiled = 0;
  explicit ExecutionContext(const Plan& of) : plan(of) {}

  bool setOptimizationProfileAsync(std::int32_t profile, cudaStream_t) noexcept override {
    return profile < static_cast<std::int32_t>(plan.profiles.size());
  }
  bool setInputShape(char const* name, Dims const& dims) noexcept override {
    if (name == plan.inputs.front().name) shape = dims;
    return true;
  }
  Dims getTensorShape(char const*) const noexcept override {
    Dims dims = shape;
    if (plan.data_dependent) dims.d[0] = -1;
    return dims;
  }
  bool setTensorAddress(char const* name, void* address) noexcept override {
    memory[name] = address;
    return address != nullptr;
  }
  bool enqueueV3(cudaStream_t stream) noexcept override {
    ++enqueued;
    if (stream->recorded_from && plan.no_graph) {
      stream->broken = true;
      return false;
    }
    stream->work.emplace_back([this] { compute(); });
    return true;
  }
  void compute() {
    std::int64_t count = 1;
    for (int i = 0; i < shape.nbDims; ++i) count *= shape.d[i];
    const auto* from = static_cast<const float*>(memory.at(plan.inputs.front().name));
    std::transform(from, from + count, static_cast<float*>(memory.at(plan.outputs.front().name)),
                   [](float value) { return 2 * value; });
    if (profiler) profiler->reportLayerTime("conv1", plan.layer_ms[profiled++ % plan.layer_ms.size()]);
  }
  void setProfiler(IProfiler* to) noexcept override { profiler = to; }
};

struct Inspector : IEngineInspector {
  const Plan& plan;
  explicit Inspector(const Plan& of) : plan(of) {}
  bool setExecutionContext(IExecutionContext const*) noexcept override { return true; }
  char const* getEngineInformation(LayerInformationFormat) const noexcept override {
    return plan.inspector.c_str();
  }
};

struct Engine : ICudaEngine {
  Plan plan;
  explicit Engine(const std::string& text) : plan(text) {}

  [[nodiscard]] const fake::Tensor& tensor(std::string_view name) const {
    for (const auto& input : plan.inputs)
      if (input.name == name) return input;
    return plan.outputs.front();
  }
  std::int32_t getNbIOTensors() const noexcept override {
    return static_cast<std::int32_t>(plan.inputs.size() + plan.outputs.size());
  }
  char const* getIOTensorName(std::int32_t index) const noexcept override {
    const auto i = static_cast<std::size_t>(index);
    return (i < plan.inputs.size() ? plan.inputs[i] : plan.outputs[i - plan.inputs.size()]).name.c_str();
  }
  TensorIOMode getTensorIOMode(char const* name) const noexcept override {
    return &tensor(name) == &plan.outputs.front() ? TensorIOMode::kOUTPUT : TensorIOMode::kINPUT;
  }
  DataType getTensorDataType(char const* name) const noexcept override { return tensor(name).getType(); }
  Dims getTensorShape(char const* name) const noexcept override { return tensor(name).dims; }
  std::int32_t getNbOptimizationProfiles() const noexcept override {
    return static_cast<std::int32_t>(plan.profiles.size());
  }
  Dims getProfileShape(char const* name, std::int32_t profile,
                       OptProfileSelector select) const noexcept override {
    constexpr const char* kWords[] = {"min", "opt", "max"};
    return plan.profiles.at(static_cast<std::size_t>(profile)).at(name).at(kWords[static_cast<int>(select)]);
  }
  std::int64_t getDeviceMemorySizeV2() const noexcept override { return 4096; }
  IExecutionContext* createExecutionContext() noexcept override { return new ExecutionContext(plan); }
  IEngineInspector* createEngineInspector() const noexcept override { return new Inspector(plan); }
};

struct Runtime : IRuntime {
  ILogger& logger;
  explicit Runtime(ILogger& to) : logger(to) {}
  ICudaEngine* deserializeCudaEngine(void const* bytes, std::size_t size) noexcept override {
    const std::string text(static_cast<const char*>(bytes), size);
    auto engine = std::make_unique<Engine>(text.substr(28));
    if (engine->plan.load_error.empty()) return engine.release();
    logger.log(ILogger::Severity::kERROR, engine->plan.load_error.c_str());
    return nullptr;
  }
};

}  // namespace

extern "C" int fake_enqueued() {
  return enqueued;
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
