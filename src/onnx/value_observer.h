// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Observes the values of a tensor, and picks the range of them that 8 bits should cover.
namespace paceline::onnx {

struct Range {
  float low = 0, high = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

enum class RangeMethod {
  kMinMax,      // the whole range seen
  kPercentile,  // the smallest t with |x| ≤ t for this share of all values
  kEntropy,     // the t whose 128 levels lose the least information (Kullback-Leibler)
};

struct RangeRule {
  RangeMethod method = RangeMethod::kPercentile;
  double percentile = 99.99;
  friend bool operator==(const RangeRule&, const RangeRule&) = default;
};

std::string_view range_method_name(RangeMethod method);
RangeMethod parse_range_method(std::string_view name);  // throws Error(kConfig) naming the known ones

// Counts |x| in 4096 bins below a power of two, negative and positive values apart. When a value does not
// fit, neighbouring bins are merged, so that the counts do not depend on the order of the data.
class ValueObserver {
 public:
  // Values that are not finite are counted but otherwise ignored.
  void add(std::span<const float> values);
  void merge(const ValueObserver& other);
  [[nodiscard]] std::uint64_t count() const { return count_; }  // of finite values
  [[nodiscard]] std::uint64_t not_finite() const { return not_finite_; }
  // [max(low, -t), min(high, t)] with the rule's t, widened to hold 0. Entropy: S. Migacz, "8-bit Inference
  // with TensorRT", GTC 2017 (S7310), on at most 2048 bins of |x|. Without values: [0, 0].
  [[nodiscard]] Range range(const RangeRule& rule) const;

 private:
  static constexpr std::size_t kBins = 4096;
  using Bins = std::vector<std::uint64_t>;

  void count_value(float value);
  void grow_to(int exponent);
  [[nodiscard]] double bin_width() const;
  [[nodiscard]] Bins magnitudes() const;
  [[nodiscard]] double percentile_threshold(double percentile) const;
  [[nodiscard]] double entropy_threshold() const;

  int exponent_ = -140;  // the bins cover |x| < 2^exponent_; initially below any value but 0
  Bins negative_ = Bins(kBins), positive_ = Bins(kBins);
  std::uint64_t count_ = 0, not_finite_ = 0;
  float low_ = 0, high_ = 0;
};

}  // namespace paceline::onnx
