// SPDX-License-Identifier: MIT
#include "tensorrt/timing_cache.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace paceline::tensorrt_plugin {

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

}  // namespace paceline::tensorrt_plugin
