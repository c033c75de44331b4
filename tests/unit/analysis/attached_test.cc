// SPDX-License-Identifier: MIT
// Step files of jobs with known answers: parts, steps of every kind of loop, and who is late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "analysis/bottlenecks.h"
#include "analysis/traces/attached_cost.h"
#include "analysis/traces/attached_rounds.h"
#include "analysis/traces/attached_study.h"
#include "analysis/traces/trace_study.h"
#include "base/error.h"
#include "base/random.h"
#include "support/made_attached_job.h"

namespace paceline::analysis::traces {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::MadeAttachedJob;
using ::testing::Not;

// Numbers of unsteady steps by sort, over all ranks.
std::map<StepSort, std::int64_t> sorts_in(const TraceStudy& study) {
  std::map<StepSort, std::int64_t> found;
  for (const auto& one : study.attached->other) found[one.sort] = one.steps;
  return found;
}

double extra_ms(const TraceStudy& study, StepSort sort) {
  for (const auto& one : study.attached->other)
    if (one.sort == sort) return one.extra_ns / 1e6;
  return 0;
}

TEST(Attached, PartsOfAStepAreThoseThatItWasMadeOf) {
  MadeAttachedJob job(2);
  job.plain_steps(12);
  const auto study = job.study();
  EXPECT_EQ(study.world, 2);
  for (const auto& rank : study.ranks) {
    EXPECT_NEAR(*rank.step_ns, 37e6, 1);
    EXPECT_NEAR(*rank.data_wait_ns, 2e6, 1);
    EXPECT_NEAR(*rank.forward_ns, 10e6, 1);
    EXPECT_NEAR(*rank.backward_ns, 20e6, 1);
    EXPECT_NEAR(*rank.exposed_ns, 2e6, 1);
    EXPECT_NEAR(*rank.optimizer_ns, 3e6, 1);
    EXPECT_NEAR(*rank.rest_ns, 0, 1);
  }
  EXPECT_TRUE(study.job.training()->late.empty());
  EXPECT_EQ(sorts_in(study), (std::map<StepSort, std::int64_t>{{StepSort::kWarmup, 1}}));
}

// As the library writes it: the file begins at the end of the first step, which has no scopes then.
TEST(Attached, AFirstStepThatIsNotInTheFileCostsNothingKnown) {
  MadeAttachedJob job(2);
  for (std::size_t r = 0; r < 2; ++r) job.files[r].stepped(job.idle(r, 0.03), 0);
  job.plain_steps(20);
  const auto study = job.study();
  EXPECT_TRUE(sorts_in(study).empty());
  EXPECT_EQ(study.first_step, 1);
  EXPECT_THAT(study.attached->notes,
              ::testing::Contains(::testing::HasSubstr("the first step is in no figure")));
}

TEST(Attached, CommunicationBesideTheBackwardPassIsHidden) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 12; ++i) {
    for (std::size_t r = 0; r < 2; ++r) {
      job.load(r, 2), job.forward(r, 10);
      const auto begin = job.now(r);
      job.backward(r, 20);
      job.files[r].exchange("gloo:all_reduce", begin + 5'000'000, begin + 15'000'000);
      job.files[r].exchange("gloo:all_reduce", begin + 18'000'000, begin + 22'000'000);
      job.idle(r, 2);
    }
    job.together(0);
    for (std::size_t r = 0; r < 2; ++r) job.optimize(r, 3);
  }
  const auto study = job.study();
  EXPECT_NEAR(*study.ranks[0].communication_ns, 14e6, 1);
  EXPECT_NEAR(*study.ranks[0].exposed_ns, 4e6, 1);
  EXPECT_NEAR(*study.ranks[0].backward_ns, 18e6, 1);
}

TEST(Attached, MicroStepsWithoutAnExchangeAreOneStep) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 12; ++i) {
    for (std::size_t r = 0; r < 2; ++r)
      for (int micro = 0; micro < 4; ++micro) job.load(r, 1), job.forward(r, 5), job.backward(r, 10);
    job.together(2);
    for (std::size_t r = 0; r < 2; ++r) job.optimize(r, 3);
  }
  const auto study = job.study();
  EXPECT_NEAR(*study.ranks[0].step_ns, 69e6, 1);
  EXPECT_NEAR(*study.ranks[0].forward_ns, 20e6, 1);
  EXPECT_THAT(study.attached->notes, Contains("a step has 4 backward passes"));
}

TEST(Attached, AStepOfAGanIsTheRoundOfItsOptimizers) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 12; ++i) {
    for (std::size_t r = 0; r < 2; ++r) job.load(r, 2), job.forward(r, 4), job.backward(r, 8);
    job.together(1);
    for (std::size_t r = 0; r < 2; ++r) job.optimize(r, 1, 0), job.forward(r, 6), job.backward(r, 12);
    job.together(1);
    for (std::size_t r = 0; r < 2; ++r) job.optimize(r, 1, 1);
  }
  const auto study = job.study();
  EXPECT_NEAR(*study.ranks[0].step_ns, 36e6, 1);
  EXPECT_NEAR(*study.ranks[0].optimizer_ns, 2e6, 1);
  EXPECT_NEAR(*study.ranks[0].forward_ns, 10e6, 1);
  EXPECT_EQ(study.last_step, 11);
  EXPECT_THAT(study.attached->notes, Contains("a step is a round of 2 optimizer steps"));
}

// Optimizers of a job's phases, by number: steps of each phase, the optimizers of one of its rounds, and
// rounds.
struct Phase {
  std::vector<std::uint16_t> round;
  int rounds;
};

TraceStudy study_of_phases(const std::vector<Phase>& phases) {
  MadeAttachedJob job(2);
  for (const auto& phase : phases)
    for (int i = 0; i < phase.rounds; ++i)
      for (const auto optimizer : phase.round) {
        for (std::size_t r = 0; r < 2; ++r) job.load(r, 2), job.forward(r, 10), job.backward(r, 20);
        job.together(2);
        for (std::size_t r = 0; r < 2; ++r) job.optimize(r, 3, optimizer);
      }
  return job.study();
}

TEST(Attached, AJobThatGoesOnWithASecondOptimizerIsSeenWhereItTrainsLongest) {
  struct Case {
    std::vector<Phase> phases;
    double step_ms;
    std::int64_t steps;
    const char* note;
  };
  const std::vector<Case> cases{
      {{{{0}, 5}, {{1}, 60}}, 37, 58, "5 optimizer steps of another phase of the job are left out"},
      {{{{0}, 60}, {{1}, 1}}, 37, 58, "1 optimizer step of another phase of the job is left out"},
      {{{{0}, 20}, {{1}, 30}}, 37, 28, "20 optimizer steps of another phase of the job are left out"},
      {{{{0}, 5}, {{0, 1}, 60}}, 74, 58, "5 optimizer steps of another phase of the job are left out"},
      {{{{0}, 5}, {{1, 1, 2}, 30}}, 111, 28, "5 optimizer steps of another phase of the job are left out"}};
  for (const auto& one : cases) {
    const auto study = study_of_phases(one.phases);
    EXPECT_NEAR(*study.ranks[0].step_ns, one.step_ms * 1e6, 1) << one.note;
    EXPECT_EQ(study.steps, one.steps) << one.note;
    EXPECT_THAT(study.attached->notes, Contains(one.note));
    EXPECT_THAT(study.attached->notes, ::testing::Each(::testing::Not(::testing::HasSubstr("first step"))));
  }
}

TEST(Attached, OptimizersOfManyParametersAreOneStep) {
  std::vector<std::uint16_t> round(64);
  for (std::uint16_t i = 0; i < 64; ++i) round[i] = i;
  round.insert(round.end(), 30, 63);  // those without a number
  MadeAttachedJob job(2);
  for (int i = 0; i < 12; ++i) {
    for (std::size_t r = 0; r < 2; ++r) job.load(r, 2), job.forward(r, 10), job.backward(r, 20);
    job.together(2);
    for (std::size_t r = 0; r < 2; ++r)
      for (const auto optimizer : round) job.optimize(r, 0.1, optimizer);
  }
  EXPECT_NEAR(*job.study().ranks[0].step_ns, 43.4e6, 1);
}

// A round that lacks a step does not turn the others around.
TEST(Attached, ARoundThatLacksAStepLeavesTheOthersAsTheyAre) {
  const auto study = study_of_phases({{{0, 1}, 5}, {{1}, 1}, {{0, 1}, 40}});
  EXPECT_NEAR(*study.ranks[0].step_ns, 74e6, 1);
  EXPECT_EQ(study.last_step, 45);
  EXPECT_THAT(study.attached->notes, ::testing::ElementsAre("a step is a round of 2 optimizer steps",
                                                            "a step has 2 backward passes"));
}

TEST(Attached, AStepThatTheScalerSkipsIsToldApart) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 30; ++i) {
    if (i == 12)
      for (std::size_t r = 0; r < 2; ++r) job.load(r, 2), job.forward(r, 10), job.backward(r, 20);
    if (i == 12) job.together(2);
    job.plain_step();
  }
  const auto study = job.study();
  EXPECT_EQ(sorts_in(study).at(StepSort::kSkipped), 1);
  EXPECT_NEAR(extra_ms(study, StepSort::kSkipped), 34, 0.1);
  EXPECT_NEAR(*study.ranks[0].step_ns, 37e6, 1);
}

// L-BFGS computes the loss inside of its step.
TEST(Attached, PassesInsideOfAnOptimizerAreNoTimeOfIt) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 12; ++i) {
    for (std::size_t r = 0; r < 2; ++r) {
      job.load(r, 2);
      const auto begin = job.now(r);
      job.idle(r, 1), job.forward(r, 10), job.backward(r, 20);
      job.files[r].scope("Optimizer.step#LBFGS.step", begin, job.now(r) + 4'000'000);
    }
    job.together(2);
    for (std::size_t r = 0; r < 2; ++r) job.idle(r, 2), job.files[r].stepped(job.now(r));
  }
  const auto study = job.study();
  EXPECT_NEAR(*study.ranks[0].optimizer_ns, 3e6, 1);
  EXPECT_NEAR(*study.ranks[0].forward_ns, 10e6, 1);
  EXPECT_NEAR(*study.ranks[0].backward_ns, 20e6, 1);
}

// On one rank no scope of DDP shows the forward pass within.
TEST(Attached, AForwardPassWithinAClosureIsNoTimeOfTheOptimizer) {
  MadeAttachedJob job(1);
  for (int i = 0; i < 12; ++i) {
    job.load(0, 2);
    const auto begin = job.now(0);
    job.idle(0, 10), job.backward(0, 20);
    job.files[0].scope("Optimizer.step#Adam.step", begin, job.idle(0, 3));
    job.files[0].stepped(job.now(0));
  }
  const auto study = job.study();
  EXPECT_NEAR(*study.ranks[0].optimizer_ns, 3e6, 1);
  EXPECT_FALSE(study.ranks[0].forward_ns);
  EXPECT_NEAR(*study.ranks[0].backward_ns, 20e6, 1);
}

// All ranks wait for one another in turns, and for rank 1 in each step.
TEST(Attached, ANamedRankCostsWhatIsWaitedForItAlone) {
  MadeAttachedJob job(4);
  for (int i = 0; i < 60; ++i)
    job.step([&](std::size_t rank, int part) {
      const bool turn = part == 2 && static_cast<std::size_t>(i) % 8 == rank;
      return MadeAttachedJob::kUsual_ms[part] + (turn ? 40 : 0) + (rank == 1 && part == 1 ? 8 : 0);
    });
  const auto study = job.study();
  const auto& training = *study.job.training();
  ASSERT_EQ(training.late.size(), 1U);
  const auto cost = cost_of("straggler", study.job);
  EXPECT_DOUBLE_EQ(*cost.value, *training.late.front().cost_ns);
  EXPECT_LT(*cost.value, 0.8 * *training.costs.straggler_wait_ns.value);
  EXPECT_FALSE(cost.ci_low) << "the interval of all waiting is not that of one rank";
}

TEST(Attached, AnEvaluationIsNoStep) {
  for (const bool loads : {true, false}) {
    MadeAttachedJob job(2);
    job.plain_steps(15);
    for (std::size_t r = 0; r < 2; ++r)
      for (int batch = 0; batch < 20; ++batch) {
        if (loads) job.load(r, 2);
        job.forward(r, 10);
      }
    job.plain_steps(15);
    const auto study = job.study();
    SCOPED_TRACE(loads);
    EXPECT_EQ(sorts_in(study).at(StepSort::kEvaluation), 1);
    EXPECT_NEAR(extra_ms(study, StepSort::kEvaluation), loads ? 240 : 200, 0.1);
    EXPECT_NEAR(*study.ranks[0].step_ns, 37e6, 1);
    EXPECT_NEAR(*study.ranks[0].forward_ns, 10e6, 1);
  }
}

// Rank 0 writes it; the others wait in their next exchange.
TEST(Attached, ACheckpointIsAPauseAndNobodyIsLate) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 40; ++i) {
    if (i == 10 || i == 30) job.idle(0, 500);
    job.plain_step();
  }
  const auto study = job.study();
  EXPECT_EQ(sorts_in(study).at(StepSort::kPause), 2);
  EXPECT_NEAR(extra_ms(study, StepSort::kPause), 1000, 0.1);
  EXPECT_NEAR(study.attached->other.front().share, 1000.0 / (40 * 37 + 1000), 1e-6);
  EXPECT_TRUE(study.job.training()->late.empty());
  EXPECT_TRUE(study.job.training()->suspected.empty());
}

TEST(Attached, PausesInEverySecondStepAreTheLoopsOwn) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 40; ++i) {
    if (i % 2 == 0) job.idle(1, 100);
    job.plain_step();
  }
  const auto study = job.study();
  EXPECT_FALSE(sorts_in(study).contains(StepSort::kPause));
  ASSERT_EQ(study.job.training()->late.size(), 1U);
  EXPECT_EQ(study.job.training()->late[0].rank, 1);
}

TEST(Attached, CompilationIsToldApartByItsScopesOrItsLength) {
  for (const bool scopes : {true, false}) {
    MadeAttachedJob job(2);
    for (int i = 0; i < 30; ++i) {
      const bool compiles = i == 14;
      for (std::size_t r = 0; r < 2; ++r) {
        job.load(r, 2);
        const auto begin = job.now(r);
        job.forward(r, compiles ? 300 : 10);
        job.files[r].scope("Torch-Compiled Region: 0/0", begin + 1, begin + 2);
        if (compiles && scopes)
          job.files[r].scope("_compile.compile_inner (dynamo_timed)", begin + 10, begin + 290'000'000);
        job.backward(r, 20);
      }
      job.together(2);
      for (std::size_t r = 0; r < 2; ++r) job.optimize(r, 3);
    }
    const auto study = job.study();
    EXPECT_EQ(sorts_in(study).at(StepSort::kCompiling), 1);
    EXPECT_NEAR(extra_ms(study, StepSort::kCompiling), 290, 0.1);
  }
}

TEST(Attached, ANewEpochIsALoaderThatBeginsAgain) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 60; ++i) {
    if (i % 20 == 19)
      for (std::size_t r = 0; r < 2; ++r) job.load(r, 0.1), job.idle(r, 5), job.load(r, 80);
    if (i % 20 == 19) {
      for (std::size_t r = 0; r < 2; ++r) job.forward(r, 10), job.backward(r, 20);
      job.together(2);
      for (std::size_t r = 0; r < 2; ++r) job.optimize(r, 3);
      continue;
    }
    job.plain_step();
  }
  const auto study = job.study();
  EXPECT_EQ(sorts_in(study).at(StepSort::kEpoch), 3);
  EXPECT_NEAR(extra_ms(study, StepSort::kEpoch), 3 * 83.1, 0.2);
  EXPECT_NEAR(*study.ranks[0].data_wait_ns, 2e6, 1);
}

// A job that trains without torch.optim: collectives end its steps.
TEST(Attached, WithoutAnOptimizerCollectivesTellTheSteps) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 20; ++i) {
    for (std::size_t r = 0; r < 2; ++r) job.load(r, 2), job.forward(r, 10), job.backward(r, 15);
    job.together(1);
    for (std::size_t r = 0; r < 2; ++r) job.backward(r, 5);
    job.together(2, "gloo:all_gather");
    for (std::size_t r = 0; r < 2; ++r) job.idle(r, 20);
  }
  const auto study = job.study();
  EXPECT_NEAR(*study.ranks[0].step_ns, 55e6, 1);
  EXPECT_FALSE(study.ranks[0].optimizer_ns);
  EXPECT_THAT(study.ranks[0].optimizer_ns.reason(), HasSubstr("not seen"));
  EXPECT_THAT(study.untold, Contains(HasSubstr("optimizer (none of torch.optim)")));
}

TEST(Attached, APartThatNothingShowsIsNotSeenAndNotZero) {
  MadeAttachedJob job(1);
  for (int i = 0; i < 12; ++i) job.idle(0, 10), job.backward(0, 20), job.optimize(0, 3);
  const auto study = job.study();
  EXPECT_FALSE(study.ranks[0].forward_ns);
  EXPECT_THAT(study.ranks[0].forward_ns.reason(), HasSubstr("no scope of DDP or FSDP"));
  EXPECT_FALSE(study.ranks[0].data_wait_ns);
  EXPECT_FALSE(study.costs.own_ns[result::OwnPart::kForward].value);
  EXPECT_NEAR(*study.ranks[0].rest_ns, 10e6, 1);
}

// Tensor parallel layers wait for their sums at once; what FSDP2 fetches ahead is hidden behind the passes.
TEST(Attached, WhatTheModelItselfExchangesIsWaitedFor) {
  for (const bool sharded : {true, false}) {
    MadeAttachedJob job(2);
    for (int i = 0; i < 16; ++i) {
      std::int64_t begin[2], pass[2];
      for (std::size_t r = 0; r < 2; ++r) job.load(r, 2), begin[r] = job.now(r), job.idle(r, 5);
      job.together(4, "gloo:all_reduce_sums");
      for (std::size_t r = 0; r < 2; ++r) {
        job.idle(r, 3);
        job.files[r].scope(sharded ? "FSDP::root_pre_forward" : "DistributedDataParallel.forward", begin[r],
                           sharded ? begin[r] + 1 : job.now(r));
        pass[r] = job.now(r), job.idle(r, 10);
      }
      job.together(6, "gloo:all_reduce_sums");
      for (std::size_t r = 0; r < 2; ++r) {
        if (sharded)
          job.files[r].scope("FSDP::pre_backward", job.now(r), job.now(r) + 1'000'000),
              job.files[r].exchange("gloo:all_gather", job.now(r) + 500'000, job.now(r) + 3'000'000);
        job.files[r].backward(pass[r], job.idle(r, 10)), job.optimize(r, 3);
      }
    }
    const auto study = job.study();
    EXPECT_NEAR(*study.ranks[0].forward_ns, 8e6, 1e3) << sharded;
    EXPECT_NEAR(*study.ranks[0].backward_ns, 20e6, 1e3) << sharded;
    EXPECT_NEAR(*study.ranks[0].exposed_ns, 10e6, 1e3) << sharded;
  }
}

// Experts exchange in pieces, of which one goes on beside the next: the model does not wait for each.
TEST(Attached, ExchangesBesideOneAnotherAreNotWaitedForBeyondShards) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 16; ++i) {
    for (std::size_t r = 0; r < 2; ++r) {
      job.load(r, 2);
      const auto begin = job.now(r);
      const auto at = [&](int ms) { return begin + ms * 1'000'000; };
      job.files[r].scope("FSDP::root_pre_forward", begin, at(1));
      job.files[r].exchange("gloo:all_reduce", at(2), at(4)),
          job.files[r].exchange("gloo:all_reduce", at(3), at(6));
      job.idle(r, 10), job.backward(r, 20), job.optimize(r, 3);
    }
  }
  EXPECT_NEAR(*job.study().ranks[0].forward_ns, 10e6, 1e3);
}

// FSDP: the exchange goes on beside the passes, and some scopes wait for it.
TEST(Attached, ShardedParametersWaitInTheScopesThatSaySo) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 16; ++i) {
    for (std::size_t r = 0; r < 2; ++r) {
      job.load(r, r == 1 ? 22 : 2);
      job.scope(r, 1, "FSDP::root_pre_forward");
    }
    const std::int64_t begin[] = {job.now(0), job.now(1)};
    job.together(4, "gloo:all_gather");
    for (std::size_t r = 0; r < 2; ++r) {
      job.files[r].scope("FSDP::all_gather_copy_out (0)", begin[r], job.now(r));
      job.idle(r, 10), job.backward(r, 20);
    }
    const std::int64_t reduce[] = {job.now(0), job.now(1)};
    job.together(3, "gloo:_reduce_scatter_base");
    for (std::size_t r = 0; r < 2; ++r) {
      job.files[r].scope("FSDP::post_backward_reduce (0)", reduce[r], job.now(r));
      job.optimize(r, 3);
    }
  }
  const auto study = job.study();
  EXPECT_NEAR(*study.ranks[1].exposed_ns, 7e6, 1);
  EXPECT_NEAR(*study.ranks[0].exposed_ns, 27e6, 1);
  EXPECT_NEAR(*study.ranks[0].forward_ns, 11e6, 1);
  ASSERT_EQ(study.exchanges.size(), 2U);
  EXPECT_THAT((std::vector{study.exchanges[0].kind, study.exchanges[1].kind}),
              ::testing::UnorderedElementsAre(CallKind::kAllGather, CallKind::kReduceScatter));
  ASSERT_EQ(study.job.training()->late.size(), 1U);
  EXPECT_EQ(study.job.training()->late[0].rank, 1);
}

// NCCL's records end when work is queued: who is late hides behind it.
TEST(Attached, QueuedCollectivesTellNobodysLateness) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 16; ++i) job.step([](std::size_t r, int part) { return part == 0 && r == 1 ? 30 : 5; });
  for (auto& file : job.files)
    for (auto& record : file.records)
      if (record.kind == static_cast<std::uint8_t>(attach::StepKind::kCommunication))
        record.flags = attach::kQueued;
  const auto study = job.study();
  EXPECT_TRUE(study.job.training()->late.empty());
  EXPECT_THAT(study.untold, Contains(HasSubstr("queued on a device")));
}

TEST(Attached, RanksWhoseCollectivesAreUnseenKeepTheirParts) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 12; ++i)
    for (std::size_t r = 0; r < 2; ++r)
      job.load(r, r == 1 ? 9 : 2), job.forward(r, 10), job.backward(r, 20), job.optimize(r, 3);
  const auto study = job.study();
  ASSERT_EQ(study.ranks.size(), 2U);
  EXPECT_NEAR(*study.ranks[0].data_wait_ns, 2e6, 1);
  EXPECT_NEAR(*study.ranks[1].data_wait_ns, 9e6, 1);
  EXPECT_NEAR(*study.ranks[1].step_ns, 42e6, 1);
  EXPECT_FALSE(study.ranks[0].exposed_ns);
  EXPECT_THAT(study.ranks[0].last_share.reason(), HasSubstr("no collective of torch.distributed was seen"));
  EXPECT_FALSE(study.job.training()->communication_share);
  EXPECT_TRUE(study.job.training()->late.empty());
  EXPECT_THAT(study.untold, Contains(HasSubstr("which rank is late: no collective of torch.distributed")));
  EXPECT_THAT(study.untold, Not(Contains(HasSubstr("belong together"))));
}

TEST(Attached, OneRankWhoseCollectivesAreUnseenLeavesLatenessUnknown) {
  MadeAttachedJob job(2);
  job.plain_steps(12);
  std::erase_if(job.files[1].records, [](const attach::StepRecord& record) {
    return record.kind == static_cast<std::uint8_t>(attach::StepKind::kCommunication);
  });
  const auto study = job.study();
  EXPECT_NEAR(*study.ranks[1].backward_ns, 20e6, 1);
  EXPECT_TRUE(study.job.training()->late.empty());
  EXPECT_THAT(study.untold, Contains(HasSubstr("which rank is late: no collective of torch.distributed")));
  EXPECT_THAT(study.untold, Not(Contains(HasSubstr("count as one"))));
}

TEST(Attached, AFileWithoutStepsSaysWhatItHas) {
  MadeAttachedJob job(2);
  for (std::size_t r = 0; r < 2; ++r) job.scope(r, 1, "something");
  try {
    (void)job.study();
    ADD_FAILURE() << "it was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rank 0 of 2 left 1 scope and 0 collectives"));
  }
}

// One rank was killed, or had fewer batches.
TEST(Attached, StepsThatOneRankLacksAreLeftOut) {
  MadeAttachedJob job(2);
  job.plain_steps(20);
  auto& records = job.files[1].records;
  records.resize(records.size() - 3 * 6 - 2);
  const auto study = job.study();
  EXPECT_EQ(study.last_step, 15);
  EXPECT_THAT(study.left_out, Contains(HasSubstr("4 steps that only some ranks have")));
}

// However many they are: a short job that is traced soon has few others.
TEST(Attached, TracedStepsAreToldApart) {
  MadeAttachedJob job(2);
  for (int i = 0; i < 40; ++i) {
    const bool traced = i >= 20 && i < 32;
    job.step([&](std::size_t, int part) { return MadeAttachedJob::kUsual_ms[part] + (traced ? 4 : 0); });
    for (auto& file : job.files)
      if (traced) file.records.back().flags = attach::kTraced;
  }
  const auto study = job.study();
  EXPECT_EQ(sorts_in(study).at(StepSort::kTraced), 12);
  EXPECT_NEAR(*study.ranks[0].step_ns, 37e6, 1);
}

TEST(Attached, PeriodsAreTheSmallestThatRecur) {
  EXPECT_EQ(period_of({1, 1, 1, 1}, 8, 100), 1U);
  EXPECT_EQ(period_of({0, 0, 1, 0, 0, 1, 0, 0, 1}, 8, 100), 3U);
  EXPECT_EQ(period_of({1, 2, 3, 4, 5, 6}, 8, 100), 0U);
  EXPECT_EQ(period_of({}, 8, 100), 0U);
}

// The observer is off in one block of ten steps of each hundred.
void add_blocks(MadeAttachedJob& job, double on_ms, double off_ms, const CounterRng& random) {
  for (int block = 0; block < 100; ++block) {
    const bool off = block % 10 == 5;
    for (std::size_t r = 0; r < job.world(); ++r)
      job.files[r].add(off ? attach::StepKind::kObserverOff : attach::StepKind::kObserverOn, job.now(r),
                       job.now(r));
    for (int i = 0; i < 10; ++i) {
      const double ms =
          (off ? off_ms : on_ms) * (1 + 0.01 * random.normal(static_cast<std::uint64_t>(10 * block + i)));
      if (off) {
        for (std::size_t r = 0; r < job.world(); ++r) job.idle(r, ms), job.files[r].stepped(job.now(r));
        continue;
      }
      for (std::size_t r = 0; r < job.world(); ++r) job.load(r, 1), job.backward(r, ms - 3);
      job.together(1);
      for (std::size_t r = 0; r < job.world(); ++r) job.optimize(r, 1);
    }
  }
}

TEST(Attached, TheCostOfWatchingIsReadFromBlocksWithoutTheObserver) {
  MadeAttachedJob job(2);
  add_blocks(job, 20.4, 20, CounterRng(3, 1));
  const auto study = job.study();
  ASSERT_TRUE(study.attached->watching);
  EXPECT_NEAR(*study.attached->watching, 1.02, 0.004);
  EXPECT_LT(*study.attached->watching_low, 1.02);
  EXPECT_GT(*study.attached->watching_high, 1.02);
  EXPECT_GT(*study.attached->watching_low, 1.01);
  EXPECT_EQ(study.last_step, 999);
  MadeAttachedJob few(2);
  few.plain_steps(20);
  EXPECT_FALSE(few.study().attached->watching);
}

struct Injected {
  int part;
  const char* late_in;
};

class LateAttached : public ::testing::TestWithParam<Injected> {};

TEST_P(LateAttached, IsNamedWithItsPartForEverySeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const CounterRng random(seed, 5);
    const std::size_t ranks = 2 + random.below(1, 3), late = random.below(2, ranks);
    MadeAttachedJob job(ranks);
    for (std::uint64_t i = 0; i < 40; ++i)
      job.step([&](std::size_t r, int part) {
        const double jitter =
            1 + 0.04 * random.normal(1000 * (r + 1) + 4 * i + static_cast<std::uint64_t>(part));
        return MadeAttachedJob::kUsual_ms[part] * jitter + (r == late && part == GetParam().part ? 8 : 0);
      });
    const auto study = job.study();
    const auto& found = study.job.training()->late;
    ASSERT_EQ(found.size(), 1U) << seed;
    EXPECT_EQ(found[0].rank, static_cast<std::int64_t>(late)) << seed;
    EXPECT_EQ(found[0].late_in, GetParam().late_in) << seed;
    EXPECT_NEAR(*found[0].late_ns, 8e6, 1.5e6) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, LateAttached,
                         ::testing::Values(Injected{0, "data"}, Injected{1, "forward"},
                                           Injected{2, "backward"}, Injected{3, "the optimizer"}));

TEST(Attached, OfAThousandHealthyJobsAtMostOneIsAccused) {
  int accused = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const CounterRng random(seed, 9);
    MadeAttachedJob job(2 + random.below(1, 3));
    const double jitter = 0.01 + 0.06 * random.uniform(2);
    for (std::uint64_t i = 0; i < 24; ++i)
      job.step([&](std::size_t r, int part) {
        const auto at = 10'000 * (r + 1) + 4 * i + static_cast<std::uint64_t>(part);
        return MadeAttachedJob::kUsual_ms[part] * std::max(0.1, 1 + jitter * random.normal(at));
      });
    accused += job.study().job.training()->late.empty() ? 0 : 1;
  }
  EXPECT_LE(accused, 1);
}

}  // namespace
}  // namespace paceline::analysis::traces
