// SPDX-License-Identifier: MIT
// Names parts of the work in a timeline of Nsight Systems, where `paceline profile --tool` runs the process.
// The header loads nothing by itself.
#pragma once
#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <optional>
#include <utility>

namespace paceline::cuda_plugin {

inline bool nvtx_is_wanted() {
  static const bool kWanted = std::getenv("PACELINE_PROFILER") != nullptr;
  return kWanted;
}

// From its start to its end on any thread: a backward pass runs on another thread.
class NvtxRange {
 public:
  NvtxRange() = default;
  explicit NvtxRange(const char* name) {
    if (nvtx_is_wanted()) id_ = ::nvtxRangeStartA(name);
  }
  NvtxRange(NvtxRange&& other) noexcept : id_(std::exchange(other.id_, std::nullopt)) {}
  NvtxRange& operator=(NvtxRange&& other) noexcept {
    end();
    id_ = std::exchange(other.id_, std::nullopt);
    return *this;
  }
  ~NvtxRange() { end(); }
  void end() {
    if (id_) ::nvtxRangeEnd(*id_);
    id_.reset();
  }

 private:
  std::optional<nvtxRangeId_t> id_;
};

}  // namespace paceline::cuda_plugin
