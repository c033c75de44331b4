// SPDX-License-Identifier: MIT
#include "host/fma_probe.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <thread>

#include "base/clock.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace paceline::host {
namespace {

// Independent sums hide the latency of a multiply-add: 4 cycles on two units need 8.
constexpr int kSums = 12;

// A loop does so many rounds of kSums multiply-adds on vectors of `lanes` numbers. What it returns depends on
// all of them, so that none can be left out.
struct Loop {
  const char* instructions;
  int lanes;
  bool (*supported)();
  float (*run)(std::int64_t rounds);
  [[nodiscard]] double flops(std::int64_t rounds) const {
    return 2.0 * kSums * lanes * static_cast<double>(rounds);
  }
};

#if defined(__x86_64__)
constexpr float kFactor = 0.999F, kAddend = 0.001F;  // the sums stay near 1: no denormal numbers

__attribute__((target("avx2,fma"))) float run_avx2(std::int64_t rounds) {
  const __m256 factor = _mm256_set1_ps(kFactor), addend = _mm256_set1_ps(kAddend);
  __m256 sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  for (std::int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = _mm256_fmadd_ps(sums[i], factor, addend);
  __m256 total = sums[0];
  for (int i = 1; i < kSums; ++i) total = _mm256_add_ps(total, sums[i]);
  return _mm256_cvtss_f32(total);
}

__attribute__((target("avx512f"))) float run_avx512(std::int64_t rounds) {
  const __m512 factor = _mm512_set1_ps(kFactor), addend = _mm512_set1_ps(kAddend);
  __m512 sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  for (std::int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = _mm512_fmadd_ps(sums[i], factor, addend);
  __m512 total = sums[0];
  for (int i = 1; i < kSums; ++i) total = _mm512_add_ps(total, sums[i]);
  return _mm512_cvtss_f32(total);
}

constexpr std::array<Loop, 2> kLoops{
    {{"avx2", 8, [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }, run_avx2},
     {"avx512f", 16, [] { return __builtin_cpu_supports("avx512f") != 0; }, run_avx512}}};
#else
constexpr std::array<Loop, 0> kLoops{};
#endif

std::atomic<float> g_used;  // results go here, so that the compiler cannot leave the work out

// Rounds that take one thread about so long.
std::int64_t rounds_for(const Loop& loop, double seconds) {
  const SteadyClock clock;
  constexpr std::int64_t kFirst = 10'000, kMost = 1'000'000'000;
  for (std::int64_t rounds = kFirst;; rounds *= 4) {
    const std::int64_t begin = clock.now_ns();
    g_used = loop.run(rounds);
    const double took = static_cast<double>(clock.now_ns() - begin) * 1e-9;
    if (took > seconds / 8 || rounds >= kMost)
      return std::max<std::int64_t>(
          kFirst, static_cast<std::int64_t>(static_cast<double>(rounds) * seconds / std::max(took, 1e-9)));
  }
}

// Every repetition begins and ends for all threads together.
std::vector<double> rates(const Loop& loop, int threads, int repetitions, double seconds) {
  const SteadyClock clock;
  const std::int64_t rounds = rounds_for(loop, seconds);
  std::barrier gate(threads);
  std::vector<double> found;
  const auto work = [&](bool first) {
    for (int r = 0; r < repetitions; ++r) {
      gate.arrive_and_wait();
      const std::int64_t begin = clock.now_ns();
      g_used = loop.run(rounds);
      gate.arrive_and_wait();
      const double took = static_cast<double>(clock.now_ns() - begin) * 1e-9;
      if (first) found.push_back(loop.flops(rounds) * threads / took);
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, false);
  work(true);
  for (auto& other : others) other.join();
  return found;
}

}  // namespace

std::vector<FmaRate> measure_fma_rates(int threads, int repetitions, double seconds_each) {
  std::vector<FmaRate> found;
  for (const auto& loop : kLoops)
    if (loop.supported())
      found.push_back({loop.instructions, rates(loop, std::max(1, threads), repetitions, seconds_each)});
  return found;
}

}  // namespace paceline::host
