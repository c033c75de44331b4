// SPDX-License-Identifier: MIT
#include "cli/run/live_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"
#include "base/scratch_folder.h"

namespace paceline::cli {
namespace {

class LiveFileTest : public ::testing::Test {
 protected:
  [[nodiscard]] nlohmann::json read() const { return nlohmann::json::parse(read_file(file_)); }
  static run::PassInfo third_pass() { return {3, 12, "A label", "timed", 1, 40, "a"}; }
  static pass::ProgressRecord record(std::int64_t n) {
    pass::ProgressRecord r;
    r.phase = "measure", r.n = n, r.p50_ns = 2e6;
    r.steps.emplace().samples_per_s = 128;
    return r;
  }

  ScratchFolder scratch_ = ScratchFolder::below_temp("paceline-live");
  std::filesystem::path file_ = scratch_.path() / "live.json";
};

TEST_F(LiveFileTest, SaysWhichPassRunsAndItsFigures) {
  LiveFile live(scratch_.path(), 0);
  live.run_begins({"night", scratch_.path().string(), 4, 3});
  live.pass_begins(third_pass());
  live.progress(record(40));
  const auto found = read();
  EXPECT_EQ(found.at("process_id"), ::getpid());
  EXPECT_EQ(found.at("experiment_name"), "night");
  EXPECT_EQ(found.at("cases"), 4);
  const auto& pass = found.at("pass");
  EXPECT_EQ(pass.at("case_id"), "a");
  EXPECT_EQ(pass.at("label"), "A label");
  EXPECT_EQ(pass.at("number"), 3);
  EXPECT_EQ(pass.at("of"), 12);
  EXPECT_EQ(pass.at("repetition"), 1);
  EXPECT_EQ(pass.at("seconds_left"), 40);
  EXPECT_EQ(found.at("progress").at("n"), 40);
  EXPECT_FALSE(found.at("progress").contains("notice"));
  EXPECT_EQ(found.at("progress").at("p50_ns"), 2e6);
  EXPECT_EQ(found.at("progress").at("steps").at(0).at("samples_per_s"), 128);
}

TEST_F(LiveFileTest, TheNextPassHasNoFiguresOfTheLast) {
  LiveFile live(scratch_.path(), 0);
  live.pass_begins(third_pass());
  live.progress(record(40));
  live.pass_begins({0, 0, "B", "check", 0, 0, "b"});
  EXPECT_FALSE(read().contains("progress"));
  EXPECT_TRUE(read().at("pass").at("seconds_left").is_null());
}

TEST_F(LiveFileTest, IsWrittenOnceInItsInterval) {
  LiveFile live(scratch_.path(), 3'600'000'000'000);
  live.pass_begins(third_pass());
  live.progress(record(40));
  EXPECT_FALSE(read().contains("progress"));
}

TEST_F(LiveFileTest, GoesWithTheRun) {
  {
    LiveFile live(scratch_.path(), 0);
    live.pass_begins(third_pass());
    EXPECT_TRUE(std::filesystem::exists(file_));
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
}

TEST_F(LiveFileTest, ARunGoesOnWhereItCannotBeWritten) {
  LiveFile live(scratch_.path() / "missing", 0);
  live.pass_begins(third_pass());
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path()));
}

}  // namespace
}  // namespace paceline::cli
