// SPDX-License-Identifier: MIT
#include "measure/control_spin.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/random.h"

namespace paceline::measure {
namespace {

constexpr std::size_t kMixes = 125'000;       // of a part; each waits for the one before
constexpr std::size_t kWords = 8 << 20 >> 3;  // of 8 bytes: 8 MiB
constexpr std::size_t kWordsOfPart = kWords / 4;
volatile std::uint64_t unoptimised = 0;  // takes the result, so that the work is not left out

}  // namespace

double control_spin_ns(int parts) {
  static std::vector<std::uint64_t> memory(kWords, 1);
  static std::size_t place = 0;
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  std::uint64_t value = 1;
  for (int part = 0; part < parts; ++part) {
    for (std::size_t i = 0; i < kMixes; ++i) value = mix64(value + i);
    for (std::size_t i = 0; i < kWordsOfPart; ++i) value += memory[place + i] += value & 1U;
    place = (place + kWordsOfPart) % kWords;
  }
  unoptimised = value;
  return static_cast<double>(clock.now_ns() - begin);
}

}  // namespace paceline::measure
