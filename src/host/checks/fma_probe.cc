// SPDX-License-Identifier: MIT
#include "host/checks/fma_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/display_text.h"
#include "base/error.h"

namespace paceline::host {
namespace {

// Independent sums hide the latency of a multiply-add: 4 cycles on two units need 8.
constexpr int kSums = 12;

// A loop runs `rounds` rounds of kSums multiply-adds on vectors of `lanes` numbers. Its result depends on all
// of them, so that the compiler can leave none out.
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

using EightFloats __attribute__((vector_size(32))) = float;
using SixteenFloats __attribute__((vector_size(64))) = float;

// Compiled for the instructions of the function that inlines it. The sums begin neither equal nor at 1, which
// each step would leave as it is, so that the compiler cannot leave work out.
template <typename Vector>
__attribute__((always_inline)) inline float run_sums(std::int64_t rounds) {
  Vector sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = Vector{} + (0.5F + 0.01F * static_cast<float>(i));
  for (std::int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = sums[i] * kFactor + kAddend;
  Vector total = sums[0];
  for (int i = 1; i < kSums; ++i) total += sums[i];
  return total[0];
}

__attribute__((target("avx2,fma"))) float run_avx2(std::int64_t rounds) {
  return run_sums<EightFloats>(rounds);
}

__attribute__((target("avx512f"))) float run_avx512(std::int64_t rounds) {
  return run_sums<SixteenFloats>(rounds);
}

constexpr std::array<Loop, 2> kLoops{
    {{"avx2", 8, [] { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }, run_avx2},
     {"avx512f", 16, [] { return __builtin_cpu_supports("avx512f") != 0; }, run_avx512}}};
#else
constexpr std::array<Loop, 0> kLoops{};
#endif

std::atomic<float> g_used;  // results go here, so that the compiler cannot leave the work out

// How many rounds take one thread about `seconds`.
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

// Threads that begin together; those that started end at once when another could not start.
class Crew {
 public:
  explicit Crew(int threads) : gate_(threads) {}
  // Runs `work` on this thread too, with true. Throws Error(kUnavailable) where not all threads start.
  void run(int threads, const std::function<void(bool first)>& work) {
    std::vector<std::jthread> others;
    try {
      others.reserve(static_cast<std::size_t>(threads));
      while (static_cast<int>(others.size()) < threads - 1)
        others.emplace_back([&] {
          gate_.arrive_and_wait();
          if (!cancelled_) work(false);
        });
    } catch (const std::exception& e) {
      cancelled_ = true;
      for (auto missing = threads - static_cast<int>(others.size()); missing > 0; --missing)
        gate_.arrive_and_drop();
      throw Error(ErrorCode::kUnavailable,
                  fmt::format("cannot start {} threads: {}", threads, plain_reason(e)));
    }
    gate_.arrive_and_wait();
    work(true);
  }
  void meet() { gate_.arrive_and_wait(); }

 private:
  std::barrier<> gate_;
  std::atomic<bool> cancelled_ = false;
};

// Every repetition begins and ends at the same time for all threads.
std::vector<double> rates(const Loop& loop, int threads, int repetitions, double seconds) {
  const SteadyClock clock;
  const std::int64_t rounds = rounds_for(loop, seconds);
  std::vector<double> found;
  found.reserve(static_cast<std::size_t>(repetitions));
  Crew crew(threads);
  crew.run(threads, [&](bool first) {
    for (int r = 0; r < repetitions; ++r) {
      crew.meet();
      const std::int64_t begin = clock.now_ns();
      g_used = loop.run(rounds);
      crew.meet();
      const double took = static_cast<double>(clock.now_ns() - begin) * 1e-9;
      if (first) found.push_back(loop.flops(rounds) * threads / took);
    }
  });
  return found;
}

// Written by the thread that uses it, so that its pages are near that thread.
using Buffer = std::vector<char>;

// Nothing where the system has not so much memory.
std::optional<std::pair<Buffer, Buffer>> buffers_of(std::size_t bytes) try {
  return std::pair(Buffer(bytes, 1), Buffer(bytes, 2));
} catch (const std::bad_alloc&) {
  return std::nullopt;
}

}  // namespace

std::vector<double> measure_copy_rates(int threads, std::size_t bytes_of_thread, int repetitions) {
  const SteadyClock clock;
  std::vector<double> found;
  std::atomic<bool> no_memory = false;
  threads = std::max(1, threads);
  const double bytes = 2.0 * static_cast<double>(bytes_of_thread) * threads;
  Crew crew(threads);
  crew.run(threads, [&](bool first) {
    auto buffers = buffers_of(bytes_of_thread);
    if (!buffers) no_memory = true;
    for (int r = 0; r < repetitions; ++r) {
      crew.meet();
      if (no_memory) continue;
      const std::int64_t begin = clock.now_ns();
      std::memcpy(buffers->first.data(), buffers->second.data(), bytes_of_thread);
      g_used = buffers->first[bytes_of_thread / 2];
      crew.meet();
      const auto took = static_cast<double>(std::max<std::int64_t>(1, clock.now_ns() - begin));
      if (first) found.push_back(bytes * 1e9 / took);
    }
  });
  if (no_memory)
    throw Error(ErrorCode::kUnavailable, fmt::format("no memory for copies of {:.0f} bytes", bytes));
  return found;
}

std::vector<FmaRate> measure_fma_rates(int threads, int repetitions, double seconds_each) {
  std::vector<FmaRate> found;
  for (const auto& loop : kLoops)
    if (loop.supported())
      found.push_back({loop.instructions, rates(loop, std::max(1, threads), repetitions, seconds_each)});
  return found;
}

}  // namespace paceline::host
