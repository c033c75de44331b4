// SPDX-License-Identifier: MIT
// How long passes spend in their phases: in the log of their case, and told to the observer.
#include "run/case/phase_times.h"

#include <gtest/gtest.h>

#include <regex>

#include "base/file.h"
#include "unit/run/coordinated.h"

namespace paceline::run {
namespace {

using pass::PassKind;
using testing::FakeExecutor;
using testing::Played;

std::vector<std::string> names(const PassTimes& times) {
  std::vector<std::string> all;
  for (const auto& one : times.phases) all.push_back(one.phase);
  return all;
}

TEST(PhaseTimes, APhaseThatIsEnteredAgainGrows) {
  PhaseWatch watch("check");
  pass::ProgressRecord note;
  note.phase = "nowhere", note.notice = "a sentence is no phase";
  for (const auto* phase : {"load", "measure", "measure", "load"}) {
    pass::ProgressRecord record;
    record.phase = phase;
    watch.take(record);
    watch.take(note);
  }
  const auto times = watch.end();
  EXPECT_EQ(names(times), (std::vector<std::string>{"start", "load", "measure"}));
  for (const auto& one : times.phases) EXPECT_GE(one.seconds, 0) << one.phase;
}

TEST(PhaseTimes, WordsHaveTheSumFirst) {
  EXPECT_EQ(words_of({"check", {{"start", 0.25}, {"load", 1.5}}}), "check 1.75 s: start 0.25, load 1.50");
}

TEST_F(Coordinated, TheLogSaysHowLongEachPhaseTook) {
  FakeExecutor fake([](const process::WorkerRequest& r) -> std::optional<Played> {
    if (r.spec.kind != PassKind::kCheck) return std::nullopt;
    auto played = testing::plays_check();
    played.records.insert(played.records.begin(), pass::phase_record("load"));
    return played;
  });
  run(plan_of_batches("[1]", 1), fake);
  const auto log = read_file(folder() / "log.txt");
  EXPECT_NE(log.find("# check 0.0"), std::string::npos) << log;
  EXPECT_TRUE(std::regex_search(log, std::regex(" s: start [0-9.]+, load [0-9.]+\n"))) << log;
  const auto check = std::ranges::find(notes_.times_of_passes, "check", &PassTimes::pass);
  ASSERT_NE(check, notes_.times_of_passes.end());
  EXPECT_EQ(names(*check), (std::vector<std::string>{"start", "load"}));
}

}  // namespace
}  // namespace paceline::run
