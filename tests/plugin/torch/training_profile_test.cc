// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/json.h"
#include "training_driver.h"

namespace paceline::torch_test {
namespace {

using nlohmann::json;
using plugin::StepPhase;

constexpr int kSteps = 2;

// Opens a scope a part, as a pass under the profiler does.
class Scopes : public plugin::StepRecorder {
 public:
  explicit Scopes(plugin::Profiler& profiler) : profiler_(profiler) {}
  void enter(StepPhase phase) override {
    const bool within = phase == StepPhase::kCommunication && phase_ == StepPhase::kBackward;
    if (!within) close();
    phase_ = phase;
    if (phase == StepPhase::kEnd) return;
    static constexpr std::array<const char*, 5> kNames{"input", "forward", "backward", "communication",
                                                       "optimizer"};
    profiler_.open(kNames.at(static_cast<std::size_t>(phase)));
    ++open_;
  }
  void launched(int, std::int64_t) override {}
  void finished(int) override {}

 private:
  void close() {
    for (; open_ > 0; --open_) profiler_.close();
  }
  plugin::Profiler& profiler_;
  StepPhase phase_ = StepPhase::kEnd;
  int open_ = 0;
};

struct Seen {
  plugin::StepProfile profile;
  json trace;
};

Seen watch(plugin::Trainer& trainer) {
  const auto file = std::filesystem::path(::testing::TempDir()) / "paceline_trace.json";
  std::filesystem::remove(file);
  train(trainer, samples(trainer, 0), 0.01);
  const auto profiler = trainer.profiler();
  if (!profiler) throw std::runtime_error("the trainer has no profiler");
  profiler->start();
  Scopes scopes(*profiler);
  for (int i = 0; i < kSteps; ++i) {
    profiler->open("step " + std::to_string(i));
    train(trainer, samples(trainer, 0), 0.01, &scopes);
    profiler->close();
  }
  Seen seen{profiler->stop(file.string()), {}};
  std::ifstream stream(file);
  if (stream) seen.trace = json::parse(stream);
  std::filesystem::remove(file);
  return seen;
}

const plugin::ProfiledTime* find(const std::vector<plugin::ProfiledTime>& rows, const std::string& name) {
  const auto it = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
  return it == rows.end() ? nullptr : &*it;
}

std::vector<json> complete_events(const json& trace, const std::string& name) {
  std::vector<json> events;
  for (const auto& event : trace.at("traceEvents"))
    if (event.value("ph", "") == "X" && event.value("name", "") == name) events.push_back(event);
  return events;
}

bool contains(const json& outer, const json& inner) {
  const double begin = outer.at("ts"), end = begin + outer.at("dur").get<double>();
  const double first = inner.at("ts"), last = first + inner.at("dur").get<double>();
  return outer.at("tid") == inner.at("tid") && begin <= first + 0.01 && last <= end + 0.01;
}

// Slices of a thread that overlap without one holding the other: viewers drop or misplace them.
int crossing(const json& trace) {
  std::map<std::string, std::vector<std::pair<double, double>>> open;
  std::vector<json> events;
  for (const auto& event : trace.at("traceEvents"))
    if (event.value("ph", "") == "X" &&
        (event.value("cat", "") == "cpu_op" || event.value("cat", "") == "user_annotation"))
      events.push_back(event);
  std::stable_sort(events.begin(), events.end(), [](const json& a, const json& b) {
    const double x = a.at("ts"), y = b.at("ts");
    return x != y ? x < y : a.at("dur").get<double>() > b.at("dur").get<double>();
  });
  int crossed = 0;
  for (const auto& event : events) {
    auto& stack = open[event.at("tid").dump()];
    const double begin = event.at("ts"), end = begin + event.at("dur").get<double>();
    while (!stack.empty() && stack.back().second <= begin) stack.pop_back();
    if (!stack.empty() && end > stack.back().second + 0.01) ++crossed;
    stack.emplace_back(begin, end);
  }
  return crossed;
}

void expect_plausible(const plugin::StepProfile& profile) {
  double steps = 0, own = 0;
  for (const auto& row : profile.scopes)
    if (row.name.starts_with("step ")) steps += row.total_ns;
  for (const auto* rows : {&profile.scopes, &profile.operators})
    for (const auto& row : *rows) {
      EXPECT_GT(row.calls, 0) << row.name;
      EXPECT_LE(row.self_ns.value_or(0), row.total_ns + 1) << row.name;
      own += row.self_ns.value_or(0);
    }
  EXPECT_GT(steps, 0);
  EXPECT_NEAR(own, steps, 1e-3 * steps);  // one thread: what it does in steps is somebody's own time
}

TEST(TrainingProfile, OperatorsAndPartsAddUpToTheSteps) {
  const auto seen = watch(*make_trainer({}));
  expect_plausible(seen.profile);
  EXPECT_NE(seen.profile.source.find("Kineto"), std::string::npos);
  const auto* forward = find(seen.profile.scopes, "forward");
  ASSERT_NE(forward, nullptr);
  EXPECT_EQ(forward->calls, kSteps);
  const auto* linear = find(seen.profile.operators, "aten::addmm");
  ASSERT_NE(linear, nullptr);
  EXPECT_EQ(linear->calls, kSteps);
  EXPECT_NE(find(seen.profile.operators, "aten::_fused_sgd_"), nullptr);
  EXPECT_TRUE(std::is_sorted(
      seen.profile.operators.begin(), seen.profile.operators.end(),
      [](const auto& a, const auto& b) { return a.self_ns.value_or(-1) > b.self_ns.value_or(-1); }));
}

TEST(TrainingProfile, TheTraceHasWhatViewersNeed) {
  const auto seen = watch(*make_trainer({}));
  ASSERT_EQ(seen.profile.no_trace, "");
  ASSERT_FALSE(seen.trace.is_null());
  for (const auto& event : seen.trace.at("traceEvents"))
    for (const char* key : {"name", "ts", "dur", "pid", "tid"})
      EXPECT_TRUE(event.value("ph", "") != "X" || event.contains(key)) << event;
  for (int i = 0; i < kSteps; ++i) {
    const auto step = complete_events(seen.trace, "step " + std::to_string(i));
    ASSERT_EQ(step.size(), 1U);
    for (const char* part : {"input", "forward", "backward", "optimizer"}) {
      const auto parts = complete_events(seen.trace, part);
      EXPECT_TRUE(std::any_of(parts.begin(), parts.end(), [&](const json& p) {
        return contains(step[0], p);
      })) << part;
    }
  }
  EXPECT_EQ(crossing(seen.trace), 0);
}

TEST(TrainingProfile, CommunicationIsAPartOfTheBackwardPass) {
  Seen seen;
  with_ranks(2, [&](plugin::RankGroup& group) {
    const auto trainer = make_trainer({}, &group);
    if (group.rank() == 0) {
      seen = watch(*trainer);
    } else {
      for (int i = 0; i < 1 + kSteps; ++i) train(*trainer, samples(*trainer, 4), 0.01);
    }
  });
  const auto* reduce = find(seen.profile.operators, "gloo:all_reduce");
  ASSERT_NE(reduce, nullptr);
  EXPECT_FALSE(reduce->self_ns);
  expect_plausible(seen.profile);
  const auto backward = complete_events(seen.trace, "backward");
  const auto waits = complete_events(seen.trace, "communication");
  ASSERT_EQ(backward.size(), static_cast<std::size_t>(kSteps));
  for (const auto& pass : backward)
    EXPECT_TRUE(std::any_of(waits.begin(), waits.end(), [&](const json& w) { return contains(pass, w); }));
  const auto* wait = find(seen.profile.scopes, "communication");
  ASSERT_NE(wait, nullptr);
  EXPECT_GE(wait->calls, kSteps);
}

TEST(TrainingProfile, AnUnwritablePlaceCostsTheTraceOnly) {
  const auto trainer = make_trainer({});
  const auto profiler = trainer->profiler();
  profiler->start();
  train(*trainer, samples(*trainer, 0), 0.01);
  const auto profile = profiler->stop("/nonexistent/trace.json");
  EXPECT_FALSE(profile.operators.empty());
  EXPECT_NE(profile.no_trace, "");
}

// A profiler whose steps failed leaves none behind.
TEST(TrainingProfile, CanBeginAgainAfterOneThatWasLeft) {
  const auto trainer = make_trainer({});
  {
    const auto left = trainer->profiler();
    left->start();
    left->open("step 0");
    train(*trainer, samples(*trainer, 0), 0.01);
  }
  expect_plausible(watch(*trainer).profile);
}

}  // namespace
}  // namespace paceline::torch_test
