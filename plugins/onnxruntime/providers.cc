// SPDX-License-Identifier: MIT
#include "onnxruntime/providers.h"

#include <fmt/format.h>
#include <onnxruntime_session_options_config_keys.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "base/device.h"
#include "base/text.h"
#include "onnxruntime/errors.h"
#include "onnxruntime/library.h"
#include "support/engine_checks.h"

namespace paceline::ort_plugin {
namespace {

struct ProviderRow {
  std::string_view option, name;
};
constexpr std::array kProviders{ProviderRow{"cpu", kCpuProvider},
                                ProviderRow{"cuda", "CUDAExecutionProvider"},
                                ProviderRow{"tensorrt", "TensorrtExecutionProvider"}};
constexpr std::string_view kTensorRt = kProviders[2].name;
constexpr const char* kPageable = "pageable";  // what ONNX Runtime does with buffers of the host

std::string option_of(const plugin::EngineSettings& settings, const char* name, const std::string& fallback) {
  const auto it = settings.options.find(name);
  return it == settings.options.end() ? fallback : it->second;
}

const ProviderRow& row_of(const std::string& option) {
  const auto row = std::ranges::find(kProviders, option, &ProviderRow::option);
  if (row == kProviders.end())
    throw Error(ErrorCode::kUsage,
                fmt::format("option {} is '{}'; it takes cuda, tensorrt or cpu", kProvider, option));
  return *row;
}

void check_device(const plugin::EngineSettings& settings, const ProviderRow& row, const std::string& device) {
  const bool cpu = row.name == kCpuProvider;
  if (cpu != is_cpu(device))
    throw Error(
        ErrorCode::kUsage,
        cpu ? fmt::format("onnxruntime.provider cpu runs on the CPU, and this case on {}; use --device cpu",
                          device)
            : fmt::format("onnxruntime.provider {} needs --device cuda", row.option));
  if (cpu && settings.precision == "tf32")
    throw Error(ErrorCode::kUnsupported, "tf32 is a mode of NVIDIA GPUs; on a CPU use fp32");
  if (!cpu && option_of(settings, kIo, kPageable) != kPageable)
    throw Error(ErrorCode::kUnsupported,
                "ONNX Runtime copies inputs and outputs from and to pageable memory in every inference; use "
                "--io pageable, or leave io away");
}

using Keys = std::vector<std::pair<const char*, std::string>>;

// Options of a provider in ONNX Runtime's own structure, which is released afterwards.
template <typename Options>
std::shared_ptr<Options> provider_options(OrtStatus* (*create)(Options**), void (*release)(Options*),
                                          OrtStatus* (*update)(Options*, const char* const*,
                                                               const char* const*, size_t),
                                          const Keys& settings) {
  Options* made = nullptr;
  Ort::ThrowOnError(create(&made));
  std::shared_ptr<Options> owned(made, release);
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : settings) keys.push_back(key), values.push_back(value.c_str());
  Ort::ThrowOnError(update(made, keys.data(), values.data(), keys.size()));
  return owned;
}

void append_tensorrt(Ort::SessionOptions& options, const Provider& provider) {
  const auto& api = Ort::GetApi();
  // TensorRT rounds products of float32 to TF32 unless this is set before it is loaded.
  ::setenv("NVIDIA_TF32_OVERRIDE", provider.precision == "tf32" ? "1" : "0", /*overwrite=*/1);
  const auto made = provider_options<OrtTensorRTProviderOptionsV2>(
      api.CreateTensorRTProviderOptions, api.ReleaseTensorRTProviderOptions,
      api.UpdateTensorRTProviderOptions,
      {{"device_id", std::to_string(provider.device)},
       {"trt_fp16_enable", provider.precision == "fp16" ? "1" : "0"},
       {"trt_int8_enable", provider.precision == "int8" ? "1" : "0"}});
  options.AppendExecutionProvider_TensorRT_V2(*made);
}

void append_cuda(Ort::SessionOptions& options, const Provider& provider) {
  const auto& api = Ort::GetApi();
  const auto made = provider_options<OrtCUDAProviderOptionsV2>(
      api.CreateCUDAProviderOptions, api.ReleaseCUDAProviderOptions, api.UpdateCUDAProviderOptions,
      {{"device_id", std::to_string(provider.device)},
       {"use_tf32", provider.precision == "tf32" ? "1" : "0"}});
  options.AppendExecutionProvider_CUDA_V2(*made);
}

}  // namespace

Provider choose_provider(const plugin::EngineSettings& settings, std::span<const std::string> available,
                         const std::string& library) {
  const auto device = option_of(settings, kDevice, "cpu");
  const auto& row = row_of(option_of(settings, kProvider, is_cpu(device) ? "cpu" : "cuda"));
  check_device(settings, row, device);
  if (std::ranges::find(available, row.name) == available.end())
    throw Error(
        ErrorCode::kUnsupported,
        fmt::format("{} has no {} (it has {}); unpack an onnxruntime-linux-x64-gpu of its releases, and set "
                    "ONNXRUNTIME_ROOT to that folder",
                    library, row.name, join(available, ", ")));
  return {std::string(row.name), device_named(device).index, settings.precision,
          plugin_support::boolean_option(settings.options, kAllowCpu, false)};
}

Provider choose_provider(const plugin::EngineSettings& settings) {
  environment();
  const auto [name, version] = library_versions().front();
  return choose_provider(settings, Ort::GetAvailableProviders(), name + " " + version);
}

void append_provider(Ort::SessionOptions& options, const Provider& provider) {
  if (!provider.on_device()) return;
  translate_errors(
      fmt::format("ONNX Runtime cannot start its {}", provider.name),
      [&] {
        if (provider.name == kTensorRt) append_tensorrt(options, provider);
        append_cuda(options, provider);  // for what TensorRT does not run
      },
      ErrorCode::kUnavailable);
  options.AddConfigEntry(kOrtSessionOptionsDisableCPUEPFallback, provider.allow_cpu ? "0" : "1");
}

std::vector<std::pair<std::string, std::string>> provider_texts(const Provider& provider) {
  std::vector<std::pair<std::string, std::string>> texts{{kProvider, provider.name}};
  if (!provider.on_device()) return texts;
  texts.emplace_back(kDevice, fmt::format("cuda:{}", provider.device));
  texts.emplace_back("tf32", provider.precision == "tf32" ? "on" : "off");
  texts.emplace_back(kIo, "inputs and outputs copied from and to pageable memory");
  texts.emplace_back(kAllowCpu, provider.allow_cpu ? "true" : "false");
  return texts;
}

}  // namespace paceline::ort_plugin
