// SPDX-License-Identifier: MIT
#include "run/inference/cross_check.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "base/file.h"
#include "process/tool_process.h"

namespace paceline::run {
namespace {
namespace fs = std::filesystem;

result::CrossCheck pairs(std::vector<double> ours, std::vector<double> theirs) {
  result::CrossCheck check;
  check.asked = true;
  check.ours_ns = std::move(ours);
  check.theirs_ns = std::move(theirs);
  return check;
}

TEST(Conclude, RatioIsTheMedianOverPairsWithItsInterval) {
  auto check = pairs({101, 102, 103, 104, 105, 106}, {100, 100, 100, 100, 100, 100});
  conclude(check, 0.95, 0.05);
  EXPECT_NEAR(*check.ratio.value, 1.035, 1e-4);
  EXPECT_NEAR(*check.ratio.ci_low, 1.01, 1e-6);
  EXPECT_NEAR(*check.ratio.ci_high, 1.06, 1e-6);
  EXPECT_DOUBLE_EQ(*check.ours_p50_ns, 103.5);
  EXPECT_EQ(check.verdict, result::Speed::kInconclusive);  // above 1, but neither within 5 % nor beyond it
}

TEST(Conclude, TheVerdictHasFourAnswers) {
  const std::vector<double> hundred(6, 100.0);
  const auto verdict = [&](std::vector<double> ours) {
    auto check = pairs(std::move(ours), hundred);
    conclude(check, 0.95, 0.05);
    return check.verdict;
  };
  EXPECT_EQ(verdict({99, 100, 101, 100, 102, 98}), result::Speed::kEquivalent);
  EXPECT_EQ(verdict({108, 109, 110, 111, 112, 107}), result::Speed::kSlower);
  EXPECT_EQ(verdict({90, 91, 89, 88, 92, 93}), result::Speed::kFaster);
  EXPECT_EQ(verdict({80, 120, 100, 95, 105, 130}), result::Speed::kInconclusive);
}

TEST(Conclude, FewerThanSixPairsHaveNoInterval) {
  auto check = pairs({100, 101}, {100, 100});
  conclude(check, 0.95, 0.05);
  EXPECT_TRUE(check.ratio.value);
  EXPECT_FALSE(check.ratio.ci_low);
  EXPECT_EQ(check.ratio.ci_low.reason(), "fewer than six pairs");
  EXPECT_EQ(check.verdict, result::Speed::kInconclusive);
}

class ToolTest : public ::testing::Test {
 protected:
  ToolTest() { make_directories(folder_); }
  ~ToolTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string run(const std::string& script, double timeout_s = 20) {
    return process::run_tool({{"/bin/sh", "-c", script}, {{"GREETING", "hello"}}, log_, {}, timeout_s},
                             interrupt_);
  }

  fs::path folder_ = temp_dir() / ("paceline-tool-test-" + std::to_string(::getpid()));
  fs::path log_ = folder_ / "log.txt";
  std::atomic<bool> interrupt_ = false;
};

TEST_F(ToolTest, OutputAndErrorsOfBothStreamsAreKept) {
  EXPECT_EQ(run("echo $GREETING; echo again >&2"), "");
  EXPECT_EQ(read_file(log_), "hello\nagain\n");
  EXPECT_EQ(run("exit 7"), "exit code 7");
  EXPECT_EQ(read_file(log_), "");  // written anew
  EXPECT_EQ(run("kill -9 $$"), "killed by signal 9");
}

TEST_F(ToolTest, AProgramThatDoesNotEndIsStoppedWithItsChildren) {
  EXPECT_EQ(run("sleep 100 & echo $!; wait", 0.5), "no end within timeout_s = 0.5 s");
  const auto child = std::stoi(read_file(log_));
  for (int i = 0; i < 100 && ::kill(child, 0) == 0; ++i) ::usleep(20'000);
  EXPECT_NE(::kill(child, 0), 0);
}

TEST_F(ToolTest, AnInterruptEndsIt) {
  interrupt_ = true;
  EXPECT_EQ(run("sleep 100"), "interrupted");
}

TEST_F(ToolTest, ProgramsAreFoundByPathAndByName) {
  EXPECT_EQ(process::find_program("/bin/sh"), "/bin/sh");
  EXPECT_EQ(process::find_program("sh").filename(), "sh");
  EXPECT_TRUE(process::find_program("no-such-program-anywhere").empty());
  EXPECT_TRUE(process::find_program("").empty());
  write_file_atomic(folder_ / "plain", "text");
  EXPECT_TRUE(process::find_program((folder_ / "plain").string()).empty());  // not executable
  EXPECT_TRUE(process::find_program(folder_.string()).empty());
}

}  // namespace
}  // namespace paceline::run
