// SPDX-License-Identifier: MIT
// Causes of a late rank of an attached job, from counters with known growth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/traces/trace_study.h"
#include "result/stored/rank_evidence.h"
#include "support/made_attached_job.h"

namespace paceline::analysis::traces {
namespace {

using ::testing::HasSubstr;
using testing::MadeAttachedJob;

// One rank's counters after each step, in ms per step: of both ranks unless `late` alone is meant.
struct Disturbance {
  double waited = 0.1, cpu = 20, busy = 40, stolen = 0;
};

// Two ranks on the same two CPUs; rank 1 takes 8 ms longer in each forward pass, and both are counted after
// each step, in which the CPUs have 80 ms.
TraceStudy disturbed_study(Disturbance healthy, Disturbance late, bool pauses = false,
                           const char* loader = MadeAttachedJob::kLoader) {
  MadeAttachedJob job(2);
  std::array<std::array<double, static_cast<std::size_t>(attach::StepCounter::kCount)>, 2> sums{};
  const auto count = [&](std::size_t rank, attach::StepCounter counter, double ms) {
    auto& sum = sums[rank][static_cast<std::size_t>(counter)];
    sum = counter == attach::StepCounter::kRunQueueWait ? ms : sum + ms;
    auto& record = job.files[rank].add(attach::StepKind::kCounter, job.now(rank), job.now(rank));
    record.group = static_cast<std::uint16_t>(counter);
    record.value = static_cast<std::uint64_t>(std::llround(sum * 1e6));
  };
  for (int i = 0; i < 60; ++i) {
    job.step([](std::size_t rank, int part) {
      return MadeAttachedJob::kUsual_ms[part] + (rank == 1 && part == 1 ? 8 : 0);
    });
    if (loader != MadeAttachedJob::kLoader) job.scope(0, 0.01, loader);
    const bool paused = pauses && i % 20 == 19;
    for (std::size_t r = 0; r < 2; ++r) {
      if (paused) job.idle(r, 500);
      const auto& one = r == 1 ? late : healthy;
      count(r, attach::StepCounter::kRunQueueWait, one.waited + (pauses && i % 20 == 0 && r == 1 ? 400 : 0));
      count(r, attach::StepCounter::kCpuTime, one.cpu);
      count(r, attach::StepCounter::kBusyCpus, one.busy);
      count(r, attach::StepCounter::kStolenCpus, one.stolen);
      count(r, attach::StepCounter::kAllCpus, 80);
    }
  }
  return job.study();
}

TEST(Attached, CausesOfALateRankComeFromItsCounters) {
  const auto causes = [](const TraceStudy& study) {
    const auto& late = study.job.training()->late;
    std::vector<std::string> names;
    for (const auto& one : late)
      for (const auto& cause : one.causes) names.push_back(cause.name);
    EXPECT_EQ(late.size(), 1U);
    return names;
  };
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  EXPECT_THAT(causes(disturbed_study({}, {})), IsEmpty());
  EXPECT_THAT(causes(disturbed_study({}, {.waited = 7})), ElementsAre(result::late_cause::kCpuWait));
  EXPECT_THAT(causes(disturbed_study({.busy = 60}, {.waited = 7, .busy = 60})),
              ElementsAre(result::late_cause::kCpuWait));
  EXPECT_THAT(disturbed_study({.busy = 60}, {.waited = 7, .busy = 60})
                  .job.training()
                  ->late.front()
                  .causes.front()
                  .evidence,
              HasSubstr("other processes used 25.0 % of its CPUs (25.0 % on the other ranks)"));
  EXPECT_THAT(causes(disturbed_study({.waited = 7}, {.waited = 7})), IsEmpty());
  EXPECT_THAT(causes(disturbed_study({}, {.waited = 7, .busy = 60})),
              ElementsAre(result::late_cause::kForeignProcess));
  EXPECT_THAT(causes(disturbed_study({}, {.stolen = 12})), ElementsAre(result::late_cause::kSteal));
  // CPU time of workers is in no counter of the rank: it may be what the others on its CPUs used.
  EXPECT_THAT(causes(disturbed_study({}, {.waited = 7, .busy = 60}, false,
                                     "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")),
              ElementsAre(result::late_cause::kCpuWait));
}

TEST(Attached, ASlowLoaderIsOneCause) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 30; ++i)
    job.step([](std::size_t rank, int part) {
      return MadeAttachedJob::kUsual_ms[part] + (rank == 1 && part == 0 ? 8 : 0);
    });
  const auto study = job.study();
  ASSERT_EQ(study.job.training()->late.size(), 1U);
  ASSERT_EQ(study.job.training()->late.front().causes.size(), 1U);
  EXPECT_EQ(study.job.training()->late.front().causes.front().name, result::late_cause::kLoader);
}

TEST(Attached, CountersAroundPausesAreNotThoseOfSteadySteps) {
  const auto study = disturbed_study({}, {.waited = 7}, true);
  const auto& evidence = study.job.training()->ranks.at(1).evidence;
  EXPECT_NEAR(*evidence.runq_wait_ns, 7e6, 1);
  EXPECT_NEAR(*evidence.cpu_ns, 20e6, 1);
  EXPECT_FALSE(evidence.minor_faults);
}

}  // namespace
}  // namespace paceline::analysis::traces
