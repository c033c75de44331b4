// SPDX-License-Identifier: MIT
// The data source of random samples.
#include <fmt/format.h>

#include "base/error.h"
#include "workload/training/data/sources.h"

namespace paceline::workload {
namespace {

constexpr std::int64_t kFewClasses = 10;  // every model has at least as many
constexpr std::int64_t kFewTokens = 1000;

// Sample i has the numbers that make_inputs gives sample i of an input of the same name and seed.
class SyntheticSource : public Source {
 public:
  explicit SyntheticSource(const SourceSetup& setup)
      : samples_(setup.data.synthetic_samples),
        shape_(setup.shape),
        classes_(static_cast<std::uint64_t>(setup.classes > 0 ? setup.classes : kFewClasses)),
        vocabulary_(static_cast<std::uint64_t>(setup.vocabulary > 0 ? setup.vocabulary : kFewTokens)),
        pixels_(setup.data.seed, hash64("input")),
        tokens_(setup.data.seed, hash64("input_ids")),
        labels_(setup.data.seed, hash64("labels")) {}

  [[nodiscard]] std::int64_t samples() const override { return samples_; }

  void read(std::int64_t index, Draws, const SampleMemory& sample) const override {
    const auto i = static_cast<std::uint64_t>(index);
    const auto pixels = static_cast<std::uint64_t>(shape_.channels * shape_.height * shape_.width);
    for (std::uint64_t k = 0; sample.image && k < pixels; ++k)
      sample.image[k] = static_cast<float>(pixels_.normal(i * pixels + k));
    const auto tokens = static_cast<std::uint64_t>(shape_.tokens);
    for (std::uint64_t k = 0; sample.tokens && k < tokens; ++k)
      sample.tokens[k] = static_cast<std::int64_t>(tokens_.below(i * tokens + k, vocabulary_));
    if (sample.label) *sample.label = static_cast<std::int64_t>(labels_.below(i, classes_));
  }

 private:
  std::int64_t samples_;
  SampleShape shape_;
  std::uint64_t classes_, vocabulary_;
  CounterRng pixels_, tokens_, labels_;
};

}  // namespace

std::unique_ptr<Source> make_synthetic(const SourceSetup& setup) {
  return std::make_unique<SyntheticSource>(setup);
}

}  // namespace paceline::workload
