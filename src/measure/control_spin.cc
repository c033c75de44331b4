// SPDX-License-Identifier: MIT
#include "measure/control_spin.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/random.h"

namespace paceline::measure {
namespace {

constexpr std::size_t kMixes = 2'500'000;     // each waits for the one before
constexpr std::size_t kWords = 8 << 20 >> 3;  // of 8 bytes: 8 MiB
constexpr int kPasses = 6;
volatile std::uint64_t unoptimised = 0;  // takes the result, so that the work is not left out

}  // namespace

double control_spin_ns() {
  static std::vector<std::uint64_t> memory(kWords, 1);
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  std::uint64_t value = 1;
  for (std::size_t i = 0; i < kMixes; ++i) value = mix64(value + i);
  for (int pass = 0; pass < kPasses; ++pass)
    for (auto& word : memory) value += word += value & 1U;
  unoptimised = value;
  return static_cast<double>(clock.now_ns() - begin);
}

}  // namespace paceline::measure
