// SPDX-License-Identifier: MIT
// The data sources CIFAR-10 and CIFAR-100.
#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/file.h"
#include "workload/training/data/augment.h"
#include "workload/training/data/cifar.h"
#include "workload/training/data/sources.h"

namespace paceline::workload {
namespace {

constexpr int kSide = CifarRecords::kSide;
constexpr int kPadding = 4;  // pixels of black around the picture before a random crop

using Pixels = std::array<unsigned char, std::size_t{3} * kSide * kSide>;

// Interleaves the planes and moves the picture by (dx, dy); black comes in from outside.
Pixels moved(const unsigned char* planes, int dx, int dy) {
  Pixels pixels{};
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) {
      const int from_x = x + dx, from_y = y + dy;
      if (from_x < 0 || from_y < 0 || from_x >= kSide || from_y >= kSide) continue;
      for (int c = 0; c < 3; ++c)
        pixels[static_cast<std::size_t>((y * kSide + x) * 3 + c)] =
            planes[(c * kSide + from_y) * kSide + from_x];
    }
  return pixels;
}

class CifarSource : public Source {
 public:
  CifarSource(const SourceSetup& setup, const CifarSet& set, const std::filesystem::path& path)
      : records_(path, set, setup.data.held_out ? CifarPart::kTest : CifarPart::kTrain),
        shape_(setup.shape),
        augment_(setup.data.augment) {}

  [[nodiscard]] std::int64_t samples() const override { return records_.size(); }

  void read(std::int64_t index, Draws draws, const SampleMemory& sample) const override {
    const int dx = augment_ ? draws.below(2 * kPadding + 1) - kPadding : 0;
    const int dy = augment_ ? draws.below(2 * kPadding + 1) - kPadding : 0;
    const bool mirrored = augment_ && draws.coin();
    const Pixels pixels = moved(records_.planes(index), dx, dy);
    write_sample({pixels.data(), kSide, kSide}, {0, 0, kSide, kSide}, mirrored, shape_, sample.image);
    if (sample.label) *sample.label = records_.label(index);
  }

 private:
  CifarRecords records_;
  SampleShape shape_;
  bool augment_;
};

std::unique_ptr<Source> make_cifar(const SourceSetup& setup, const CifarSet& set) {
  if (setup.classes > 0 && setup.classes < set.classes)
    throw Error(ErrorCode::kConfig,
                fmt::format("data.source {0} has {1} classes, and the model {2}; write --num-classes {1}",
                            setup.data.source, set.classes, setup.classes));
  const std::filesystem::path given = setup.data.path;
  const auto path = given.empty()         ? cached_cifar(cache_dir() / "data", set)
                    : awaits_cifar(given) ? cached_cifar(given, set)
                                          : given;
  return std::make_unique<CifarSource>(setup, set, path);
}

}  // namespace

std::unique_ptr<Source> make_cifar10(const SourceSetup& setup) {
  return make_cifar(setup, kCifar10);
}
std::unique_ptr<Source> make_cifar100(const SourceSetup& setup) {
  return make_cifar(setup, kCifar100);
}

}  // namespace paceline::workload
