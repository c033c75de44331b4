// SPDX-License-Identifier: MIT
#include "tensorrt/plan_builder.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "tensorrt/build_options.h"
#include "tensorrt/gpu.h"
#include "tensorrt/library.h"
#include "tensorrt/message_log.h"
#include "tensorrt/network.h"
#include "tensorrt/versions.h"

namespace paceline::tensorrt_plugin {
namespace {

// Times of kernels that earlier builds measured, kept in a file. The object must outlive the build.
class TimingCache {
 public:
  // Without `file` there is no cache; a file that does not exist yet gives an empty one. Throws Error(kData)
  // for a file that the library does not accept: damaged, or of another version or device.
  TimingCache(nvinfer1::IBuilderConfig& config, const std::string& file, MessageLog& log);
  void save() const;  // with what the build added

 private:
  nvinfer1::IBuilderConfig& config_;
  std::string file_;
  std::unique_ptr<nvinfer1::ITimingCache> cache_;
};

// The library makes an empty cache from an unusable file and only warns; saving it would lose the file.
TimingCache::TimingCache(nvinfer1::IBuilderConfig& config, const std::string& file, MessageLog& log)
    : config_(config), file_(file) {
  if (file_.empty()) return;
  const auto kept = std::filesystem::exists(file_) ? read_file(file_) : std::string();
  log.reset();
  cache_.reset(config_.createTimingCache(kept.data(), kept.size()));
  if (!cache_ || log.complained() || !config_.setTimingCache(*cache_, false))
    throw Error(ErrorCode::kData,
                fmt::format("timing cache '{}' cannot be used: {}; delete it, or give another file", file_,
                            log.reason()));
}

void TimingCache::save() const {
  const auto* filled = file_.empty() ? nullptr : config_.getTimingCache();
  if (!filled) return;
  const std::unique_ptr<nvinfer1::IHostMemory> bytes(filled->serialize());
  if (bytes) write_file_atomic(file_, {static_cast<const char*>(bytes->data()), bytes->size()});
}

// The library builds on the calling thread's device. The driver is only opened when a device is named,
// because TensorRT-RTX builds on machines without one.
std::unique_ptr<nvinfer1::IBuilder> start_builder(const Library& library, const std::string& device,
                                                  MessageLog& log) {
  if (!device.empty()) (void)Gpu(device);  // its constructor makes it the current device
  auto builder = library.make_builder(log);
  if (!builder)
    throw Error(ErrorCode::kUnavailable,
                fmt::format("{} {} cannot start: {}; it builds where there is an NVIDIA GPU with its driver",
                            library.title(), library.version(), log.reason()));
  return builder;
}

std::vector<std::string> notes_of(const Library& library) {
  if (!library.builds_only()) return {};
  return {fmt::format(
      "built by {} {}, which is not TensorRT: only {} loads this file, and paceline does not run it",
      library.title(), library.version(), library.title())};
}

}  // namespace

plugin::BuildReport PlanBuilder::build(const std::string& onnx_file, const plugin::BuildSettings& settings,
                                       const std::string& file) {
  const auto options = read_build_options(settings);
  MessageLog log(settings.log_file);
  const auto builder = start_builder(library(), options.device, log);
  const auto network = read_network(library(), *builder, log, onnx_file);
  const std::unique_ptr<nvinfer1::IBuilderConfig> config(builder->createBuilderConfig());
  apply(options, *builder, *config);
  keep_precisions(*network.definition, *config);
  add_profiles(settings.profiles, *builder, *config);
  const TimingCache cache(*config, options.timing_cache, log);
  log.reset();  // parsers also complain about what they can do without
  const std::unique_ptr<nvinfer1::IHostMemory> plan(
      builder->buildSerializedNetwork(*network.definition, *config));
  if (!plan)
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} cannot compile '{}': {}", library().title(), onnx_file, log.reason()));
  write_file_atomic(file, {static_cast<const char*>(plan->data()), plan->size()});
  cache.save();
  plugin::BuildReport report{effective_settings(*config), notes_of(library())};
  report.settings.emplace_back("layer_types", layer_types(*network.definition));
  return report;
}

}  // namespace paceline::tensorrt_plugin
