// SPDX-License-Identifier: MIT
#pragma once
#include <NvInfer.h>

#include <memory>
#include <string>

#include "tensorrt/message_log.h"

namespace paceline::tensorrt_plugin {

// Times of kernels that earlier builds measured, kept in a file. It must live until the build is over.
class TimingCache {
 public:
  // An empty `file`: none. A file that does not exist yet: an empty cache. Throws Error(kData) for one that
  // the library does not take: damaged, or of another version or device.
  TimingCache(nvinfer1::IBuilderConfig& config, const std::string& file, MessageLog& log);
  void save() const;  // with what the build added

 private:
  nvinfer1::IBuilderConfig& config_;
  std::string file_;
  std::unique_ptr<nvinfer1::ITimingCache> cache_;
};

}  // namespace paceline::tensorrt_plugin
