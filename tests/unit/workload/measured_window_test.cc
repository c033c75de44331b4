// SPDX-License-Identifier: MIT
#include "workload/window/measured_window.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "measure/timed_loop.h"
#include "support/fake_clock.h"
#include "workload/timed_repetition.h"

namespace paceline::workload {
namespace {

using Log = std::vector<std::string>;

// Writes down what happens to it, and when: after how many calls of the body.
class FakeObserver : public WindowObserver {
 public:
  FakeObserver(std::string name, Log& log, const int& calls, std::string throws_in = {})
      : name_(std::move(name)), log_(log), calls_(calls), throws_in_(std::move(throws_in)) {}
  void open() override { note("opens"); }
  void close() override { note("closes"); }
  void report(result::Repetition& into, double) override {
    note("reports");
    into.load_ns = static_cast<double>(calls_);
  }

 private:
  void note(const std::string& what) {
    if (what == throws_in_) throw std::runtime_error(name_ + " " + what);
    log_.push_back(name_ + " " + what + " after " + std::to_string(calls_));
  }

  std::string name_;
  Log& log_;
  const int& calls_;
  std::string throws_in_;
};

class FakeSink : public pass::RecordSink {
 public:
  void emit(const nlohmann::json& record) override { types.push_back(record.at("type")); }
  Log types;
};

// One first call, two of warm-up, three timed ones.
pass::PassSpec six_calls() {
  pass::PassSpec spec;
  spec.loop.warmup.mode = stats::WarmupMode::kFixed;
  spec.loop.warmup.fixed_iterations = 2;
  spec.loop.iterations = 3;
  spec.loop.batch = 1;
  return spec;
}

class MeasuredWindowTest : public ::testing::Test {
 protected:
  // The number of the call that throws; 0: none does.
  void run_loop(int failing_call = 0) {
    const auto config = six_calls().loop;
    const support::FakeClock clock(10);
    measure::AloneDecider decider(config.warmup, config.stop, config.iterations);
    measure::LoopHooks hooks;
    hooks.measure_begins = [this] { window.open(); };
    hooks.measure_ends = [this] { window.close(); };
    const auto body = [&] {
      if (++calls == failing_call) throw std::runtime_error("the body fails");
      clock.advance(1'000'000);
    };
    measure::run_timed_loop(clock, body, config, {}, decider, hooks);
  }

  Log log;
  int calls = 0;
  MeasuredWindow window;
};

TEST_F(MeasuredWindowTest, ObserversSeeExactlyTheTimedSamplesTheLastOneFromTheClosest) {
  window.add<FakeObserver>("a", log, calls);
  window.add<FakeObserver>("b", log, calls);
  run_loop();
  EXPECT_EQ(log, (Log{"a opens after 3", "b opens after 3", "b closes after 6", "a closes after 6"}));
}

TEST_F(MeasuredWindowTest, TheyReportInTheOrderInWhichTheyClosed) {
  window.add<FakeObserver>("a", log, calls);
  window.add<FakeObserver>("b", log, calls);
  run_loop();
  log.clear();
  result::Repetition r;
  window.report(r, 1);
  EXPECT_EQ(log, (Log{"b reports after 6", "a reports after 6"}));
  EXPECT_EQ(r.load_ns, Number(6));
}

TEST_F(MeasuredWindowTest, ClosesWhenThePassThrows) {
  const auto failing_pass = [this] {
    const WindowScope scope(window);
    window.add<FakeObserver>("a", log, calls);
    run_loop(5);
  };
  EXPECT_THROW(failing_pass(), std::runtime_error);
  EXPECT_EQ(log, (Log{"a opens after 3", "a closes after 5"}));
}

TEST_F(MeasuredWindowTest, ClosesItselfAtItsEnd) {
  {
    MeasuredWindow inner;
    inner.add<FakeObserver>("a", log, calls);
    inner.open();
  }
  EXPECT_EQ(log, (Log{"a opens after 0", "a closes after 0"}));
}

TEST_F(MeasuredWindowTest, AnObserverThatCannotOpenIsNotClosed) {
  window.add<FakeObserver>("a", log, calls);
  window.add<FakeObserver>("b", log, calls, "opens");
  window.add<FakeObserver>("c", log, calls);
  EXPECT_THROW(run_loop(), std::runtime_error);
  window.close();
  EXPECT_EQ(log, (Log{"a opens after 3", "a closes after 3"}));
}

TEST_F(MeasuredWindowTest, OneThatCannotCloseKeepsNoOtherOpen) {
  window.add<FakeObserver>("a", log, calls);
  window.add<FakeObserver>("b", log, calls, "closes");
  EXPECT_THROW(run_loop(), std::runtime_error);
  EXPECT_EQ(log, (Log{"a opens after 3", "b opens after 3", "a closes after 6"}));
}

TEST_F(MeasuredWindowTest, ARepetitionOpensItAroundItsTimedSamplesAndReports) {
  FakeSink raw;
  const auto spec = six_calls();
  TaggedSink sink(raw, spec);
  const std::atomic<bool> interrupt{false};
  TimedRepetition repetition(spec, sink);
  repetition.window.add<FakeObserver>("a", log, calls);
  const auto loop = repetition.run_loop([this] { ++calls; }, interrupt);
  repetition.emit(loop);
  EXPECT_EQ(log, (Log{"a opens after 3", "a closes after 6", "a reports after 6"}));
  EXPECT_TRUE(repetition.figures.overhead.harness_cost_ns);
  EXPECT_TRUE(repetition.figures.noise.nivcsw_per_s);
  EXPECT_EQ(raw.types.back(), "repetition");
}

TEST_F(MeasuredWindowTest, ARepetitionClosesItWhenItsBodyThrows) {
  FakeSink raw;
  const auto spec = six_calls();
  TaggedSink sink(raw, spec);
  const std::atomic<bool> interrupt{false};
  const auto failing_pass = [&] {
    TimedRepetition repetition(spec, sink);
    repetition.window.add<FakeObserver>("a", log, calls);
    repetition.run_loop(
        [this] {
          if (++calls == 5) throw std::runtime_error("the body fails");
        },
        interrupt);
  };
  EXPECT_THROW(failing_pass(), std::runtime_error);
  EXPECT_EQ(log, (Log{"a opens after 3", "a closes after 5"}));
}

}  // namespace
}  // namespace paceline::workload
