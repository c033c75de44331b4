// SPDX-License-Identifier: MIT
// The real machine, whatever it is: structure and relations only.
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/error.h"
#include "host/machine/affinity.h"
#include "host/machine/cpu_choice.h"
#include "host/machine/environment.h"
#include "host/machine/heap.h"
#include "host/machine/process_clock.h"
#include "host/noise/noise.h"
#include "unit/host/fake_tree.h"

namespace paceline::host {
namespace {

TEST(Live, CpuCountsAreConsistent) {
  const CpuInfo cpu = read_cpu();
  ASSERT_FALSE(cpu.online.empty());
  EXPECT_TRUE(std::includes(cpu.online.begin(), cpu.online.end(), cpu.affinity.begin(), cpu.affinity.end()));
  EXPECT_GE(allowed_cpu_count(cpu), 1);
  EXPECT_LE(allowed_cpu_count(cpu), static_cast<int>(cpu.online.size()));
  EXPECT_EQ(static_cast<int>(allowed_cpus().size()), allowed_cpu_count(cpu));
}

TEST(Live, OwnMemoryIsReadAndGrowsWithUse) {
  const auto before = process_memory();
  ASSERT_TRUE(before.rss_bytes && before.rss_peak_bytes);
  EXPECT_LE(*before.rss_bytes, *before.rss_peak_bytes);
  constexpr std::int64_t kBlock = 64 << 20;
  const std::vector<char> block(kBlock, 1);
  EXPECT_GE(*process_memory().rss_peak_bytes, *before.rss_bytes + kBlock / 2);
  EXPECT_EQ(block.back(), 1);
  const int self = static_cast<int>(::getpid());
  EXPECT_GE(*process_memory(SystemFiles{}, self).rss_bytes, kBlock / 2);
}

// Memory straight from the kernel and back to it; an allocator may keep what is freed.
void touch_and_release(std::size_t bytes) {
  void* const block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  std::memset(block, 1, bytes);
  ::munmap(block, bytes);
}

TEST(Live, PeakFallsAfterAReset) {
  touch_and_release(64 << 20);
  const auto peak = process_memory().rss_peak_bytes;
  if (!reset_rss_peak()) GTEST_SKIP() << "the kernel refuses to reset the high-water mark";
  EXPECT_LT(*process_memory().rss_peak_bytes, *peak);
}

// In a child process: the setting is the process's own.
TEST(Live, TheHeapIsKeptUnlessAVariableIsInCharge) {
  FakeTree tree;
  const auto in_child = [&](const std::string& at_start, const char* variable, const char* value,
                            const std::string& expected) {
    tree.file("proc/self/environ", std::string("HOME=/") + '\0' + at_start + '\0');
    const pid_t child = ::fork();
    if (child == 0) {
      ::clearenv();
      if (variable) ::setenv(variable, value, 1);
      ::_exit(keep_freed_memory(tree.files(), {}) == expected ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status == 0;
  };
  const bool settable = ::mallopt(M_TOP_PAD, 0) != 0;  // the allocator of a sanitizer is not
  const std::string kept = settable ? "keeps freed memory" : "default of the C library";
  const std::string late = settable ? "; MALLOC_ARENA_MAX was set too late to have an effect" : "";
  EXPECT_TRUE(in_child("A=MALLOC_", nullptr, "", kept));
  EXPECT_TRUE(in_child("MALLOC_TRIM_THRESHOLD_=1", nullptr, "", "as MALLOC_TRIM_THRESHOLD_ says"));
  EXPECT_TRUE(in_child("GLIBC_TUNABLES=x", nullptr, "", "as GLIBC_TUNABLES says"));
  EXPECT_TRUE(in_child("A=1", "PACELINE_HEAP", "default", "as PACELINE_HEAP says"));
  EXPECT_TRUE(in_child("A=1", "PACELINE_HEAP", "keep", kept));
  EXPECT_TRUE(in_child("A=1", "MALLOC_ARENA_MAX", "1", kept + late));
}

TEST(Live, AnotherAllocatorIsNeverSaidToKeepFreedMemory) {
  EXPECT_EQ(keep_freed_memory(FakeTree().files(), "libjemalloc.so.2"), "as libjemalloc.so.2 decides");
}

TEST(Live, NoiseOfABusyMomentIsWithinItsBounds) {
  const auto before = take_snapshot();
  const std::int64_t begin_ns = cpu_use_now(SystemFiles{}).own_cpu_ns;
  while (cpu_use_now(SystemFiles{}).own_cpu_ns < begin_ns + 200'000'000) {
  }
  const auto noise = noise_between(before, take_snapshot());
  for (const auto* share :
       {&noise.runq_wait_frac, &noise.steal_frac, &noise.psi_cpu_some, &noise.foreign_cpu_frac}) {
    if (*share) {
      EXPECT_GE(**share, 0);
      EXPECT_LE(**share, 1.5);
    } else {
      EXPECT_FALSE(share->reason().empty());
    }
  }
}

TEST(Live, EnvironmentHasItsParts) {
  const auto environment = capture_environment("test");
  for (const char* key : {"cpu", "memory", "os", "clock", "load", "variables"}) {
    EXPECT_TRUE(environment.at(key).is_object()) << key;
  }
  EXPECT_EQ(environment.at("binary_sha256").get<std::string>().size(), 64U);
}

TEST(Live, ProcessHasStartedBeforeNow) {
  const auto since = since_process_start_ns();
  ASSERT_TRUE(since);
  EXPECT_GE(*since, 0);
}

// In a child, so that the other tests keep their CPUs.
TEST(Live, PinningHoldsForRunningThreadsAndIsReadBack) {
  const auto chosen = choose_cpus(1);
  ASSERT_EQ(chosen.size(), 1U);
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<bool> go{false};
    std::vector<int> seen;
    std::thread other([&] {
      while (!go) std::this_thread::yield();
      seen = current_affinity();
    });
    pin_process(chosen);
    go = true;
    other.join();
    ::_exit(current_affinity() == chosen && seen == chosen ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Live, ImpossiblePinningIsAnErrorThatNamesTheCpus) {
  for (const auto& cpus : {std::vector<int>{16383}, std::vector<int>{-1}, std::vector<int>{}}) {
    try {
      pin_process(cpus);
      ADD_FAILURE() << "pinned to nothing";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
      EXPECT_NE(std::string(error.what()).find("cannot pin to CPUs"), std::string::npos);
    }
  }
}

TEST(Live, ChoosesAsManyCpusAsAllowed) {
  EXPECT_EQ(choose_cpus(1'000'000), allowed_cpus());
  EXPECT_EQ(choose_cpus(0).size(), 1U);
}

}  // namespace
}  // namespace paceline::host
