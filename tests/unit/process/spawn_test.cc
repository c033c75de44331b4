// SPDX-License-Identifier: MIT
// Children: what they are started with, how they end, and what is said when they cannot start.
#include "process/spawn.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "process/tool_process.h"

namespace paceline::process {
namespace {

class SpawnTest : public ::testing::Test {
 protected:
  [[nodiscard]] SpawnRequest shell(const std::string& script) const {
    SpawnRequest request;
    request.argv = {"/bin/sh", "-c", script};
    request.log = log_;
    return request;
  }
  // Returns the script's output.
  [[nodiscard]] std::string said(const SpawnRequest& request) const {
    ChildProcess child(request);
    child.wait();
    EXPECT_TRUE(WIFEXITED(child.wait_status()));
    EXPECT_EQ(WEXITSTATUS(child.wait_status()), 0);
    return read_file(log_);
  }

  ScratchFolder scratch_ = ScratchFolder::below_temp("paceline-spawn");
  std::filesystem::path log_ = scratch_.path() / "log.txt";
};

TEST_F(SpawnTest, TheSpecIsReadAndRecordsAreWritten) {
  const auto spec = memory_file("the pass");
  const auto pipe = record_pipe();
  auto request = shell("cat <&3 >&4; echo both; echo streams >&2");
  request.spec_fd = spec.get(), request.record_fd = pipe.write_end.get();
  EXPECT_EQ(said(request), "both\nstreams\n");
  std::string heard(64, '\0');
  const auto size = ::read(pipe.read_end.get(), heard.data(), heard.size());
  EXPECT_EQ(heard.substr(0, static_cast<std::size_t>(size)), "the pass");
  EXPECT_EQ(::read(pipe.read_end.get(), heard.data(), heard.size()), -1);  // we still hold the other end
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(SpawnTest, TheLogIsAppendedTo) {
  EXPECT_EQ(said(shell("echo one")), "one\n");
  EXPECT_EQ(said(shell("echo two")), "one\ntwo\n");
}

TEST_F(SpawnTest, ItsEnvironmentIsOursWithItsOwnOnTop) {
  ::setenv("PACELINE_TEST_OURS", "ours", 1);
  ::setenv("PACELINE_TEST_BOTH", "ours", 1);
  auto request = shell("echo $PACELINE_TEST_OURS $PACELINE_TEST_BOTH");
  request.env = {{"PACELINE_TEST_BOTH", "its"}};
  EXPECT_EQ(said(request), "ours its\n");
}

TEST_F(SpawnTest, AToolHasASessionWithoutATerminal) {
  const std::string script = "cut -d' ' -f6 /proc/$$/stat; echo $$";
  const auto ours = said(shell(script));
  EXPECT_EQ(ours.substr(0, ours.find('\n')), std::to_string(::getsid(0)));
  EXPECT_EQ(run_tool({{"/bin/sh", "-c", script}, {}, log_, {}}, false), "");
  const auto its = read_file(log_);
  const auto session = its.substr(0, its.find('\n') + 1);
  EXPECT_EQ(its, session + session);
}

TEST_F(SpawnTest, ItStaysOnItsCpus) {
  cpu_set_t ours;
  ASSERT_EQ(::sched_getaffinity(0, sizeof ours, &ours), 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &ours)) --last;
  auto request = shell("sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status");
  request.cpus = {last};
  EXPECT_EQ(said(request), std::to_string(last) + "\n");
}

TEST_F(SpawnTest, ACpuThatIsNotOursIsAnError) {
  auto request = shell("true");
  request.cpus = {CPU_SETSIZE - 1};
  EXPECT_THROW(ChildProcess{request}, Error);
}

TEST_F(SpawnTest, AProgramThatIsMissingIsNamed) {
  auto request = shell("");
  request.argv = {"/nowhere/paceline", "worker"};
  try {
    ChildProcess child(request);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "'/nowhere/paceline' could not be started: No such file or directory");
  }
}

TEST_F(SpawnTest, AnEnvironmentThatIsTooLongIsTheUsersMistake) {
  auto request = shell("true");
  request.env = {{"LONG", std::string(200 * 1024, 'x')}};
  try {
    ChildProcess child(request);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kConfig);
    EXPECT_NE(std::string(e.what()).find("'env'"), std::string::npos) << e.what();
  }
}

TEST_F(SpawnTest, ALogThatCannotBeWrittenIsNamed) {
  auto request = shell("true");
  request.log = scratch_.path() / "gone" / "log.txt";
  try {
    ChildProcess child(request);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kIo);
    EXPECT_NE(std::string(e.what()).find(request.log.string()), std::string::npos) << e.what();
  }
}

// Children of a child end, too.
TEST_F(SpawnTest, TheWholeGroupEndsWithTheScope) {
  const auto request = shell("sleep 300 & echo $!; wait");
  std::string grandchild;
  {
    ChildProcess child(request);
    EXPECT_FALSE(child.ended());
    while (grandchild.find('\n') == std::string::npos) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      grandchild = read_file(log_);
    }
  }
  const int pid = std::stoi(grandchild);
  for (int i = 0; i < 5000 && ::kill(pid, 0) == 0; ++i) {
    const auto stat = std::filesystem::path("/proc") / std::to_string(pid) / "stat";
    std::error_code gone;
    if (!std::filesystem::exists(stat, gone) || read_file(stat).find(") Z ") != std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST_F(SpawnTest, AToolsEndIsAValue) {
  using enum ToolEnd::How;
  const auto end_of = [&](const std::string& script, bool interrupt = false, double timeout_s = 600) {
    return end_of_tool({{"/bin/sh", "-c", script}, {}, log_, {}, timeout_s}, interrupt);
  };
  EXPECT_EQ(end_of("true").how, kDone);
  const auto failed = end_of("exit 3"), killed = end_of("kill -9 $$");
  EXPECT_EQ(failed.how, kFailed);
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_EQ(failed.words, "exit code 3");
  EXPECT_EQ(killed.how, kFailed);
  EXPECT_FALSE(killed.exit_code);
  EXPECT_EQ(end_of("sleep 100", true).how, kInterrupted);
  EXPECT_EQ(end_of("sleep 100", false, 0.01).how, kOverLimit);
}

TEST_F(SpawnTest, AToolThatPrintsWithoutEndIsEnded) {
  ToolProcess tool{{"/bin/sh", "-c", "yes; sleep 100"}, {}, log_, {}};
  tool.output = scratch_.path() / "output";
  tool.most_bytes = 1'000'000;
  EXPECT_EQ(run_tool(tool, false), "it printed more than 1.00 MB, and was ended");
  EXPECT_TRUE(prints_too_much(tool));
  tool.argv = {"/bin/sh", "-c", "head -c 1000000 /dev/zero"};
  EXPECT_EQ(run_tool(tool, false), "");
  EXPECT_FALSE(prints_too_much(tool));
}

}  // namespace
}  // namespace paceline::process
