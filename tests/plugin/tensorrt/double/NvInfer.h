// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>

#include "NvInferVersion.h"

// A double of the part of TensorRT's C++ interface that the plug-in uses, from NVIDIA's API reference: the
// same names and signatures as plain abstract classes, so that the plug-in's sources compile where TensorRT
// is not. What lies behind it is in fake_tensorrt.cc. Not binary compatible with the real one.
struct CUstream_st;
using cudaStream_t = CUstream_st*;

namespace nvinfer1 {

enum class DataType : std::int32_t {
  kFLOAT,
  kHALF,
  kINT8,
  kINT32,
  kBOOL,
  kUINT8,
  kFP8,
#if NV_TENSORRT_MAJOR >= 10
  kBF16,
  kINT64,
  kINT4
#endif
};
enum class DeviceType : std::int32_t { kGPU, kDLA };
enum class TensorLocation : std::int32_t { kDEVICE, kHOST };
enum class TensorIOMode : std::int32_t { kNONE, kINPUT, kOUTPUT };
enum class OptProfileSelector : std::int32_t { kMIN, kOPT, kMAX };
enum class BuilderFlag : std::int32_t {
#if NV_TENSORRT_MAJOR < 10
  kFP16 = 0,
  kINT8 = 1,
  kOBEY_PRECISION_CONSTRAINTS = 10,
#endif
  kGPU_FALLBACK = 3,
  kTF32 = 6
};
enum class MemoryPoolType : std::int32_t { kWORKSPACE };
enum class ProfilingVerbosity : std::int32_t { kLAYER_NAMES_ONLY, kNONE, kDETAILED };
enum class LayerInformationFormat : std::int32_t { kONELINE, kJSON };

using NetworkDefinitionCreationFlags = std::uint32_t;
#if NV_TENSORRT_MAJOR < 10
enum class NetworkDefinitionCreationFlag : std::int32_t { kEXPLICIT_BATCH = 0 };
#elif NV_TENSORRT_MAJOR < 11
enum class NetworkDefinitionCreationFlag : std::int32_t { kSTRONGLY_TYPED = 1 };
#endif

struct Dims {
  static constexpr std::int32_t MAX_DIMS{8};
  std::int32_t nbDims;
#if NV_TENSORRT_MAJOR < 10
  std::int32_t d[MAX_DIMS];
#else
  std::int64_t d[MAX_DIMS];
#endif
};

class ILogger {
 public:
  enum class Severity : std::int32_t { kINTERNAL_ERROR, kERROR, kWARNING, kINFO, kVERBOSE };
  virtual void log(Severity severity, char const* message) noexcept = 0;
  virtual ~ILogger() = default;
};

class IProfiler {
 public:
  virtual void reportLayerTime(char const* name, float ms) noexcept = 0;
  virtual ~IProfiler() = default;
};

class IHostMemory {
 public:
  virtual ~IHostMemory() noexcept = default;
  virtual void* data() const noexcept = 0;
  virtual std::size_t size() const noexcept = 0;
};

class ITensor {
 public:
  virtual ~ITensor() noexcept = default;
  virtual DataType getType() const noexcept = 0;
};

class ILayer {
 public:
  virtual ~ILayer() noexcept = default;
  virtual ITensor* getOutput(std::int32_t index) const noexcept = 0;
#if NV_TENSORRT_MAJOR < 10
  virtual void setPrecision(DataType type) noexcept = 0;
#endif
};

class INetworkDefinition {
 public:
  virtual ~INetworkDefinition() noexcept = default;
  virtual std::int32_t getNbLayers() const noexcept = 0;
  virtual ILayer* getLayer(std::int32_t index) const noexcept = 0;
  virtual std::int32_t getNbInputs() const noexcept = 0;
};

class IOptimizationProfile {
 public:
  virtual ~IOptimizationProfile() noexcept = default;
  virtual bool setDimensions(char const* input, OptProfileSelector select, Dims const& dims) noexcept = 0;
};

class ITimingCache {
 public:
  virtual ~ITimingCache() noexcept = default;
  virtual IHostMemory* serialize() const noexcept = 0;
};

class IBuilderConfig {
 public:
  virtual ~IBuilderConfig() noexcept = default;
  virtual void setFlag(BuilderFlag flag) noexcept = 0;
  virtual void clearFlag(BuilderFlag flag) noexcept = 0;
  virtual bool getFlag(BuilderFlag flag) const noexcept = 0;
  virtual void setMemoryPoolLimit(MemoryPoolType pool, std::size_t bytes) noexcept = 0;
  virtual std::size_t getMemoryPoolLimit(MemoryPoolType pool) const noexcept = 0;
  virtual void setDefaultDeviceType(DeviceType type) noexcept = 0;
  virtual DeviceType getDefaultDeviceType() const noexcept = 0;
  virtual void setDLACore(std::int32_t core) noexcept = 0;
  virtual std::int32_t getDLACore() const noexcept = 0;
  virtual void setProfilingVerbosity(ProfilingVerbosity verbosity) noexcept = 0;
  virtual ProfilingVerbosity getProfilingVerbosity() const noexcept = 0;
  virtual std::int32_t addOptimizationProfile(IOptimizationProfile const* profile) noexcept = 0;
  virtual std::int32_t getNbOptimizationProfiles() const noexcept = 0;
  virtual ITimingCache* createTimingCache(void const* bytes, std::size_t size) const noexcept = 0;
  virtual bool setTimingCache(ITimingCache const& cache, bool ignore_mismatch) noexcept = 0;
  virtual ITimingCache const* getTimingCache() const noexcept = 0;
};

class IBuilder {
 public:
  virtual ~IBuilder() noexcept = default;
  virtual INetworkDefinition* createNetworkV2(NetworkDefinitionCreationFlags flags) noexcept = 0;
  virtual IBuilderConfig* createBuilderConfig() noexcept = 0;
  virtual IOptimizationProfile* createOptimizationProfile() noexcept = 0;
  virtual std::int32_t getNbDLACores() const noexcept = 0;
  virtual IHostMemory* buildSerializedNetwork(INetworkDefinition& network,
                                              IBuilderConfig& config) noexcept = 0;
};

class IExecutionContext {
 public:
  virtual ~IExecutionContext() noexcept = default;
  virtual bool setOptimizationProfileAsync(std::int32_t profile, cudaStream_t stream) noexcept = 0;
  virtual bool setInputShape(char const* name, Dims const& dims) noexcept = 0;
  virtual Dims getTensorShape(char const* name) const noexcept = 0;
  virtual std::int32_t inferShapes(std::int32_t most_names, char const** names) noexcept = 0;
  virtual bool setTensorAddress(char const* name, void* memory) noexcept = 0;
  virtual bool enqueueV3(cudaStream_t stream) noexcept = 0;
  virtual void setProfiler(IProfiler* profiler) noexcept = 0;
};

class IEngineInspector {
 public:
  virtual ~IEngineInspector() noexcept = default;
  virtual bool setExecutionContext(IExecutionContext const* context) noexcept = 0;
  virtual char const* getEngineInformation(LayerInformationFormat format) const noexcept = 0;
};

class ICudaEngine {
 public:
  virtual ~ICudaEngine() noexcept = default;
  virtual std::int32_t getNbIOTensors() const noexcept = 0;
  virtual char const* getIOTensorName(std::int32_t index) const noexcept = 0;
  virtual TensorIOMode getTensorIOMode(char const* name) const noexcept = 0;
  virtual DataType getTensorDataType(char const* name) const noexcept = 0;
  virtual TensorLocation getTensorLocation(char const* name) const noexcept = 0;
  virtual Dims getTensorShape(char const* name) const noexcept = 0;
  virtual std::int32_t getNbOptimizationProfiles() const noexcept = 0;
  virtual Dims getProfileShape(char const* name, std::int32_t profile,
                               OptProfileSelector select) const noexcept = 0;
#if NV_TENSORRT_MAJOR < 10
  virtual std::size_t getDeviceMemorySize() const noexcept = 0;
#else
  virtual std::int64_t getDeviceMemorySizeV2() const noexcept = 0;
#endif
  virtual IExecutionContext* createExecutionContext() noexcept = 0;
  virtual IEngineInspector* createEngineInspector() const noexcept = 0;
};

class IRuntime {
 public:
  virtual ~IRuntime() noexcept = default;
  virtual ICudaEngine* deserializeCudaEngine(void const* bytes, std::size_t size) noexcept = 0;
};

}  // namespace nvinfer1
