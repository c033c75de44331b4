// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

#include "run/case/observer.h"
#include "run/case/plugin_choice.h"
#include "run/inference/peak.h"

namespace paceline::run {

// Bytes of buffers that copies need, so that caches of `cache_bytes` contain little of them; why there are
// none where that is more than a quarter of the memory that may be used.
Count copy_bytes(std::int64_t cache_bytes, const Count& usable_bytes);

// Measures a peak: in fp32 a plain loop of multiply-adds where it is written for this CPU, else the best of a
// 3x3 convolution and a 2048^3 matrix product in the asked precision, through the same worker and loop as any
// case. Of copies: those of memory that no cache holds.
class PeakProbes {
 public:
  PeakProbes(const EngineDirectory& engines, std::filesystem::path log, RunObserver& observer,
             const std::atomic<bool>& interrupt)
      : engines_(engines), log_(std::move(log)), observer_(observer), interrupt_(interrupt) {}
  Peak operator()(const std::string& precision, int threads) const;

 private:
  [[nodiscard]] Peak library_probe(const std::string& name, const std::string& precision, int threads,
                                   const std::filesystem::path& folder) const;
  [[nodiscard]] Peak fma_probe(int threads) const;
  [[nodiscard]] Peak copy_probe(int threads) const;

  const EngineDirectory& engines_;
  std::filesystem::path log_;
  RunObserver& observer_;
  const std::atomic<bool>& interrupt_;
};

}  // namespace paceline::run
