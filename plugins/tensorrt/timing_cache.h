// SPDX-License-Identifier: MIT
#pragma once
#include <NvInfer.h>

#include <memory>
#include <string>

#include "tensorrt/message_log.h"

namespace paceline::tensorrt_plugin {

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

}  // namespace paceline::tensorrt_plugin
