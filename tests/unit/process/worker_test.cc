// SPDX-License-Identifier: MIT
#include "process/worker.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "base/error.h"

namespace paceline::process {
namespace {

// Timed passes run in the environment of the user's own processes.
TEST(WorkerEnvironment, OnlyUntimedPassesGiveWay) {
  using pass::PassKind;
  const auto wait_policy = [](PassKind kind, const std::map<std::string, std::string>& of_the_case = {}) {
    WorkerRequest request;
    request.spec.kind = kind;
    request.env = of_the_case;
    const auto env = worker_environment(request);
    const auto found = env.find("OMP_WAIT_POLICY");
    return found == env.end() ? std::string() : found->second;
  };
  EXPECT_EQ(wait_policy(PassKind::kReference), "passive");
  EXPECT_EQ(wait_policy(PassKind::kExport), "passive");
  EXPECT_EQ(wait_policy(PassKind::kTimed), "");
  EXPECT_EQ(wait_policy(PassKind::kCheck), "");
  EXPECT_EQ(wait_policy(PassKind::kReference, {{"OMP_WAIT_POLICY", "active"}}), "active");
}

TEST(LacksRoom, DiffersFromAMissingLibrary) {
  EXPECT_TRUE(lacks_room("cannot load plug-in: libtorch_cpu.so: failed to map segment from shared object"));
  EXPECT_TRUE(lacks_room("cannot create cache for search path: Cannot allocate memory"));
  EXPECT_FALSE(lacks_room("libtorch_cpu.so: cannot open shared object file: No such file or directory"));
}

TEST(ExplainEnd, TellsSignalsFromOutsideFromFaults) {
  const auto code = [](int signal) { return explain_end({}, signal, std::nullopt).code; };
  for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP}) EXPECT_EQ(code(signal), "killed") << signal;
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE}) EXPECT_EQ(code(signal), "crash") << signal;
}

// A library that gets no memory may abort, and the limit is why.
TEST(ExplainEnd, NamesALimitOnTheAddressSpace) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const auto reason = [] { return explain_end({}, SIGABRT, std::nullopt).reason; };
  rlimit limit{rlim_t{1} << 50, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  EXPECT_NE(reason().find("(ulimit -v)"), std::string::npos) << reason();
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(reason().find("ulimit") == std::string::npos, before.rlim_cur == RLIM_INFINITY) << reason();
}

pass::PassReport in_phase(const char* phase) {
  pass::PassReport report;
  report.phase = phase;
  return report;
}

TEST(ExplainEnd, TheWorkersOwnErrorComesFirst) {
  auto report = in_phase("load");
  report.error_code = "unsupported", report.error = "no such layer";
  const auto end = explain_end(report, SIGKILL, "oom_kill rose by 1");
  EXPECT_EQ(end.code, "unsupported");
  EXPECT_EQ(end.reason, "no such layer");
}

TEST(ExplainEnd, OnlyAKillThatTheKernelCountedIsMemory) {
  const auto killed = explain_end(in_phase("load"), SIGKILL, "oom_kill rose by 1");
  EXPECT_EQ(killed.code, "oom");
  EXPECT_NE(killed.reason.find("in phase 'load' (oom_kill rose by 1)"), std::string::npos) << killed.reason;
  EXPECT_EQ(explain_end({}, SIGKILL, std::nullopt).code, "killed");
  EXPECT_EQ(explain_end({}, SIGSEGV, "oom_kill rose by 1").code, "crash");
}

TEST(ExplainEnd, AnExitBeforeTheEndHasItsCodeAndPhase) {
  const auto end = explain_end(in_phase("measure"), 3 << 8, std::nullopt);
  EXPECT_EQ(end.code, "exit");
  EXPECT_EQ(end.reason, "the worker ended early (exit code 3) while in phase 'measure'");
}

}  // namespace
}  // namespace paceline::process
