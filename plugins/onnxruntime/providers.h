// SPDX-License-Identifier: MIT
// Chooses the execution provider of a session: the CPU, CUDA or TensorRT.
#pragma once
#include <onnxruntime_cxx_api.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnxruntime/node_providers.h"
#include "plugin/engine.h"

namespace paceline::ort_plugin {

struct Provider {
  std::string name{kCpuProvider};  // as ONNX Runtime calls it
  int device = 0;                  // CUDA's index
  std::string precision;
  bool allow_cpu = false;  // nodes that the provider does not run may run on the CPU
  [[nodiscard]] bool on_device() const { return name != kCpuProvider; }
};

// The options that belong to a provider.
inline constexpr const char *kProvider = "provider", *kAllowCpu = "allow_cpu_fallback", *kDevice = "device",
                            *kIo = "io";

// Chooses by the options `device` and `provider` among the providers that the library has.
// Error(kUnsupported) with what to install for one that it lacks, and for what runs on no such device;
// Error(kUsage) for options that contradict each other.
Provider choose_provider(const plugin::EngineSettings& settings, std::span<const std::string> available,
                         const std::string& library);
// Among those of the library that is loaded.
Provider choose_provider(const plugin::EngineSettings& settings);

// Gives the session the provider. Unless the CPU is allowed, loading a model fails that has nodes for it.
void append_provider(Ort::SessionOptions& options, const Provider& provider);

// In words, for results.
std::vector<std::pair<std::string, std::string>> provider_texts(const Provider& provider);

}  // namespace paceline::ort_plugin
