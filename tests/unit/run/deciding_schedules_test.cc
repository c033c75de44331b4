// SPDX-License-Identifier: MIT
// Two schedules that decide by the results so far, on passes that are played: what a schedule may do without
// any other part of a run knowing of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>

#include "result/figures/pair_ratio.h"
#include "run/case/case_run.h"
#include "run/schedule.h"
#include "unit/run/coordinated.h"

namespace paceline::run {
namespace {

using pass::PassKind;
using testing::fails;
using testing::FakeExecutor;
using testing::Played;

constexpr std::uint64_t kSeed = 7;
constexpr double kConfidence = 0.95, kMargin = 0.03;

result::PairRatio ratio_of(const CaseRun& one, const CaseRun& other) {
  return result::pair_ratio(one.result, other.result, result::Figure::kLatency, {}, kConfidence, kMargin);
}

// Every case in turns, but for those that are slower than the fastest beyond doubt: they are dropped.
class Elimination : public Schedule {
 public:
  Elimination(std::size_t cases, std::int64_t repetitions) {
    const auto order = interleaved_order(std::vector<std::int64_t>(cases, repetitions), kSeed);
    left_.assign(order.begin(), order.end());
  }

  std::optional<Proposal> next(const CaseRuns& cases) override {
    if (!left_.empty() && left_.front().repetition != repetition_) drop_slow(cases);
    if (left_.empty()) return std::nullopt;
    const auto slot = left_.front();
    left_.pop_front();
    ++given_;
    repetition_ = slot.repetition;
    return slot;
  }
  [[nodiscard]] result::EndedBecause ending(const CaseRun& c) const override {
    return dropped_.contains(c.index) ? result::EndedBecause::kEliminated : result::EndedBecause::kPlanned;
  }
  [[nodiscard]] std::size_t expected() const override { return given_ + left_.size(); }

 private:
  void drop_slow(const CaseRuns& cases) {
    std::vector<const CaseRun*> open;
    for (const auto& c : cases)
      if (!c.ended && !c.result.repetitions.empty()) open.push_back(&c);
    const auto fastest = std::min_element(open.begin(), open.end(), [](const auto* a, const auto* b) {
      return *a->result.headline.p50_ns.value < *b->result.headline.p50_ns.value;
    });
    for (const auto* c : open) {
      const auto ratio = ratio_of(*c, **fastest);
      if (!ratio.reason.empty() || ratio.found->verdict != stats::Verdict::kRegression) continue;
      std::erase_if(left_, [&](const auto& slot) { return slot.case_index == c->index; });
      dropped_.insert(c->index);
    }
  }

  std::deque<TimedSlot> left_;
  std::set<std::size_t> dropped_;
  std::size_t given_ = 0;
  std::int64_t repetition_ = 0;
};

// An elimination whose time is over before what it expects is done.
class Limited : public Elimination {
 public:
  using Elimination::Elimination;
  [[nodiscard]] double seconds_left() const override { return kLeftS; }
  static constexpr double kLeftS = 1e-9;
};

// Pairs of two cases: twice as many, until the interval of their ratio is narrow enough or the plan has no
// more.
class Doubling : public Schedule {
 public:
  Doubling(std::int64_t first, std::int64_t most, double width)
      : slots_(interleaved_order({most, most}, kSeed)),
        until_(2 * static_cast<std::size_t>(first)),
        width_(width) {}

  std::optional<Proposal> next(const CaseRuns& cases) override {
    for (const auto& c : cases)
      if (c.ended && c.result.outcome != result::Outcome::kOk) return std::nullopt;  // no more pairs
    if (next_ == until_) {
      if (until_ == slots_.size() || is_narrow(cases)) return std::nullopt;
      until_ = std::min(2 * until_, slots_.size());
    }
    return slots_[next_++];
  }
  [[nodiscard]] result::EndedBecause ending(const CaseRun&) const override {
    return next_ < slots_.size() ? result::EndedBecause::kNarrowEnough : result::EndedBecause::kPlanned;
  }
  [[nodiscard]] std::size_t expected() const override { return until_; }

 private:
  [[nodiscard]] bool is_narrow(const CaseRuns& cases) const {
    const auto ratio = ratio_of(cases[1], cases[0]).found;
    return ratio && ratio->ci_ratio && ratio->ci_ratio->high - ratio->ci_ratio->low <= width_;
  }

  std::vector<TimedSlot> slots_;
  std::size_t next_ = 0, until_;
  double width_;
};

// Repeats its slots for ever.
class Repeating : public Schedule {
 public:
  explicit Repeating(std::vector<TimedSlot> slots) : slots_(std::move(slots)) {}
  std::optional<Proposal> next(const CaseRuns&) override { return slots_[next_++ % slots_.size()]; }
  [[nodiscard]] std::size_t expected() const override { return slots_.size(); }

 private:
  std::vector<TimedSlot> slots_;
  std::size_t next_ = 0;
};

// Measures the first case once, then adds one and measures that; cases that it never asks for stay as they
// are.
class Adding : public Schedule {
 public:
  explicit Adding(config::Case added) : added_(std::move(added)) {}
  std::optional<Proposal> next(const CaseRuns& cases) override {
    switch (step_++) {
      case 0:
        return TimedSlot{0, 0};
      case 1:
        return added_;
      case 2:
        return TimedSlot{cases.size() - 1, 0};
      default:
        return std::nullopt;
    }
  }
  [[nodiscard]] std::size_t expected() const override { return 2; }

 private:
  config::Case added_;
  int step_ = 0;
};

constexpr const char* kB4 = "tiny_cnn-eager-fp32-b4";

class Decided : public Coordinated {
 protected:
  result::RunResult run_with(Schedule& schedule, const std::string& text, FakeExecutor& fake,
                             bool resume = false) {
    auto setup = setup_of(text);
    setup.schedule = &schedule;
    if (resume) setup.previous = result::read_run(folder());
    return run(std::move(setup), fake);
  }
  // Returns the error of a run of two cases with a schedule that gives these slots for ever.
  std::string error_of(std::vector<TimedSlot> slots, FakeExecutor& fake) {
    Repeating schedule(std::move(slots));
    try {
      run_with(schedule, plan_of_batches("[1, 2]", 3), fake);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInternal);
      return error.what();
    }
    return "none";
  }
  static int timed(const FakeExecutor& fake, const std::string& id) { return count_of(fake, id + " timed"); }
  static void expect_complete(const result::CaseResult& c, int repetitions) {
    EXPECT_EQ(c.outcome, result::Outcome::kOk) << c.reason;
    EXPECT_TRUE(c.complete) << c.case_id;
    EXPECT_EQ(c.repetitions.size(), static_cast<std::size_t>(repetitions)) << c.case_id;
    EXPECT_EQ(c.repetitions_planned, repetitions) << c.case_id;
  }
};

// Batch 4 takes half as long again as the others; repetitions differ by a percent.
std::optional<Played> plays_arms(const process::WorkerRequest& r) {
  if (r.spec.kind != PassKind::kTimed) return std::nullopt;
  const std::int64_t p50 = r.spec.case_id == kB4 ? 1'500'000 : 1'000'000;
  return testing::plays_samples(r.spec, p50 + r.spec.repetition % 3 * 10'000);
}

TEST_F(Decided, TheTimeLeftIsAtMostTheOneThatTheScheduleHas) {
  FakeExecutor fake(plays_arms);
  Limited schedule(2, 6);
  run_with(schedule, plan_of_batches("[1, 2]", 6), fake);
  EXPECT_EQ(std::ranges::max(notes_.timed, {}, &PassInfo::seconds_left).seconds_left, Limited::kLeftS);
}

TEST_F(Decided, AnArmThatIsClearlySlowerIsDroppedAndTheOthersGoOn) {
  FakeExecutor fake(plays_arms);
  Elimination schedule(3, 12);
  const auto done = run_with(schedule, plan_of_batches("[1, 2, 4]", 12), fake);
  EXPECT_EQ(done.outcome, "ok");
  EXPECT_EQ(timed(fake, kB1), 12);
  EXPECT_EQ(timed(fake, kB2), 12);
  EXPECT_EQ(timed(fake, kB4), 6);  // the fewest pairs that carry a claim
  expect_complete(case_named(done, kB1), 12);
  expect_complete(case_named(done, kB4), 6);
  EXPECT_EQ(case_named(done, kB1).ended_because, result::EndedBecause::kPlanned);
  EXPECT_EQ(case_named(done, kB4).ended_because, result::EndedBecause::kEliminated);
  EXPECT_EQ(case_named(result::read_run(folder()).run, kB4).ended_because, result::EndedBecause::kEliminated);
  EXPECT_EQ(notes_.timed.front().of, 36U);
  EXPECT_EQ(notes_.timed.back().of, 30U);
  EXPECT_EQ(notes_.timed.back().number, 30U);
  EXPECT_EQ(notes_.ended.size(), 3U);
}

TEST_F(Decided, ArmsThatAreEquallyFastAllGoOn) {
  FakeExecutor fake;
  Elimination schedule(3, 8);
  const auto done = run_with(schedule, plan_of_batches("[1, 2, 4]", 8), fake);
  EXPECT_EQ(fake.order(/*timed_only=*/true).size(), 24U);
  expect_complete(case_named(done, kB4), 8);
}

TEST_F(Decided, AnArmThatFailsCostsItselfOnly) {
  FakeExecutor fake([](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.case_id == kB1 && r.spec.repetition == 1) return fails("oom", "no room");
    return plays_arms(r);
  });
  Elimination schedule(3, 12);
  const auto done = run_with(schedule, plan_of_batches("[1, 2, 4]", 12), fake);
  EXPECT_EQ(case_named(done, kB1).reason_code, "oom");
  EXPECT_EQ(timed(fake, kB1), 2);
  EXPECT_EQ(timed(fake, kB2), 12);
  EXPECT_EQ(timed(fake, kB4), 6);
}

TEST_F(Decided, AResumedRunDropsTheSameArmAndRunsWhatIsMissing) {
  FakeExecutor first([&](const process::WorkerRequest& r) {
    if (r.spec.kind == PassKind::kTimed && r.spec.repetition == 8) interrupt_ = true;
    return plays_arms(r);
  });
  Elimination schedule(3, 12), again(3, 12);
  const auto cut = run_with(schedule, plan_of_batches("[1, 2, 4]", 12), first);
  EXPECT_EQ(cut.outcome, "interrupted");
  EXPECT_FALSE(case_named(cut, kB1).complete);
  EXPECT_EQ(case_named(cut, kB1).ended_because, result::EndedBecause::kInterrupted);
  interrupt_ = false;
  FakeExecutor second(plays_arms);
  const auto done = run_with(again, plan_of_batches("[1, 2, 4]", 12), second, /*resume=*/true);
  EXPECT_EQ(timed(second, kB1), 4);
  EXPECT_EQ(timed(second, kB2), 4);
  EXPECT_EQ(timed(second, kB4), 0);
  expect_complete(case_named(done, kB2), 12);
  expect_complete(case_named(done, kB4), 6);
}

// Until repetition `calm` the second case is now faster, now slower than the first.
FakeExecutor::MayPlay plays_restless_until(std::int64_t calm) {
  return [calm](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.kind != PassKind::kTimed) return std::nullopt;
    const auto n = r.spec.repetition;
    const bool restless = r.spec.case_id == kB2 && n < calm;
    return testing::plays_samples(r.spec, restless ? (n % 2 == 0 ? 800'000 : 1'250'000) : 1'000'000);
  };
}

TEST_F(Decided, PairsAreDoubledUntilTheIntervalIsNarrow) {
  FakeExecutor fake(plays_restless_until(6));
  Doubling schedule(6, 48, 0.02);
  const auto done = run_with(schedule, plan_of_batches("[1, 2]", 48), fake);
  for (const auto* id : {kB1, kB2}) {
    expect_complete(case_named(done, id), 24);
    EXPECT_EQ(case_named(done, id).ended_because, result::EndedBecause::kNarrowEnough);
  }
  std::vector<std::size_t> announced;
  for (const auto& pass : notes_.timed) announced.push_back(pass.of);
  EXPECT_EQ(std::count(announced.begin(), announced.end(), 12U), 12);
  EXPECT_EQ(std::count(announced.begin(), announced.end(), 24U), 12);
  EXPECT_EQ(std::count(announced.begin(), announced.end(), 48U), 24);
}

TEST_F(Decided, PairsThatAreNarrowAtOnceAreNotDoubled) {
  FakeExecutor fake(plays_restless_until(0));
  Doubling schedule(6, 48, 0.02);
  const auto done = run_with(schedule, plan_of_batches("[1, 2]", 48), fake);
  for (const auto* id : {kB1, kB2}) expect_complete(case_named(done, id), 6);
}

TEST_F(Decided, PairsEndAtThePlansLimit) {
  FakeExecutor fake(plays_restless_until(100));
  Doubling schedule(6, 20, 0.02);
  const auto done = run_with(schedule, plan_of_batches("[1, 2]", 20), fake);
  for (const auto* id : {kB1, kB2}) expect_complete(case_named(done, id), 20);
}

TEST_F(Decided, AScheduleThatRepeatsASlotIsAnErrorThatNamesIt) {
  FakeExecutor fake;
  EXPECT_EQ(error_of({{0, 0}, {1, 0}}, fake),
            "the schedule asks for repetition 1 of tiny_cnn-eager-fp32-b1 twice");
  EXPECT_EQ(timed(fake, kB1), 1);
}

TEST_F(Decided, AScheduleThatNamesACaseTheRunDoesNotHaveIsAnError) {
  FakeExecutor fake;
  EXPECT_EQ(error_of({{2, 0}}, fake), "the schedule asks for repetition 1 of case 3 of 2");
}

TEST_F(Decided, AScheduleThatNamesARepetitionBelowTheFirstIsAnError) {
  FakeExecutor fake;
  EXPECT_EQ(error_of({{0, -1}}, fake), "the schedule asks for repetition 0 of case 1 of 2");
}

config::Case case_of_batch(int batch) {
  return config::expand(config::load_plan_text(plan_of_batches(std::to_string(batch), 1), "test.yaml"))
      .front();
}

TEST_F(Decided, ACaseIsPreparedBeforeItsFirstSlotAndNotWithoutOne) {
  FakeExecutor fake;
  Adding schedule(case_of_batch(4));
  const auto done = run_with(schedule, plan_of_batches("[1, 2]", 1), fake);
  const auto order = fake.order();
  const auto place = [&](const std::string& pass) { return std::ranges::find(order, pass) - order.begin(); };
  EXPECT_EQ(count_of(fake, std::string(kB2) + " check"), 0) << "no slot";
  EXPECT_EQ(case_named(done, kB2).outcome, result::Outcome::kSkipped);
  EXPECT_LT(place(std::string(kB1) + " timed 0"), place(std::string(kB4) + " check 0"))
      << "its turn had not come";
  ASSERT_EQ(done.cases.size(), 3U);
  EXPECT_EQ(done.cases.back().case_id, kB4);
  expect_complete(done.cases.back(), 1);
}

TEST_F(Decided, ACaseThatIsAddedTwiceIsAnError) {
  FakeExecutor fake;
  Adding schedule(case_of_batch(2));
  try {
    run_with(schedule, plan_of_batches("[1, 2]", 1), fake);
    FAIL() << "it was added";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the schedule adds case tiny_cnn-eager-fp32-b2, which the run has");
  }
}

TEST_F(Decided, ACaseWhosePartnerFailsHasWhatItNeeds) {
  FakeExecutor fake([](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.kind == PassKind::kTimed && r.spec.case_id == kB2 && r.spec.repetition == 2)
      return fails("crash");
    return std::nullopt;
  });
  Doubling schedule(6, 48, 0.02);
  const auto done = run_with(schedule, plan_of_batches("[1, 2]", 48), fake);
  EXPECT_EQ(done.outcome, "failed");
  EXPECT_EQ(case_named(done, kB2).reason_code, "crash");
  const auto& partner = case_named(done, kB1);
  expect_complete(partner, static_cast<int>(partner.repetitions.size()));
  EXPECT_LE(partner.repetitions.size(), 3U);
}

}  // namespace
}  // namespace paceline::run
