// SPDX-License-Identifier: MIT
#include "config/inference/slo.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "plan_helpers.h"

namespace paceline::config {
namespace {

TEST(Slo, ReadsQuantileAndDuration) {
  EXPECT_DOUBLE_EQ(parse_slo("p99=50ms").p, 0.99);
  EXPECT_DOUBLE_EQ(parse_slo("p99=50ms").bound_s, 0.05);
  EXPECT_DOUBLE_EQ(parse_slo("p99.9 = 2s").p, 0.999);
  EXPECT_DOUBLE_EQ(parse_slo("p50=800us").bound_s, 0.0008);
}

TEST(Slo, RefusesInvalidLimits) {
  for (const char* text :
       {"", "p99", "p99=", "99=50ms", "p99=50", "p99=-1ms", "p0=1ms", "p100=1ms", "p99=xms"})
    EXPECT_THROW(parse_slo(text), Error) << text;
}

std::string mistakes(const std::string& lines) {
  try {
    load_plan_text("kind: inference\nmodel: resnet50\n" + lines, "p.yaml");
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

TEST(LoadChecks, AServerNeedsARate) {
  EXPECT_NE(mistakes("scenario: server\n").find("a server needs arrival_rate_per_s"), std::string::npos);
  EXPECT_EQ(mistakes("scenario: server\narrival_rate_per_s: 10\n"), "");
  EXPECT_EQ(mistakes("scenario: server\nslo: p99=50ms\n"), "");  // the rate is searched
  EXPECT_NE(
      mistakes("scenario: server\narrival_rate_per_s: 10\nserver: {load: 0.5}\n").find("exclude each other"),
      std::string::npos);
}

TEST(LoadChecks, ARecordedScheduleNeedsNoRate) {
  const auto folder = ScratchFolder::below_temp("schedules");
  const auto write = [&](const char* name, std::string_view text) {
    write_file_atomic(folder.path() / name, text);
    return (folder.path() / name).string();
  };
  const auto server = [&](const std::string& file, std::string_view more = "") {
    return mistakes(fmt::format("scenario: server\nserver: {{arrival: {}{}}}\n", file, more));
  };
  const auto good = write("flow.txt", "0\n2\n4\n");
  EXPECT_EQ(server(good), "");
  EXPECT_EQ(server(good, ", load: [0.2, 0.4]"), "");
  EXPECT_EQ(mistakes("slo: p99=50ms\narrival_rate_per_s: [1, 2]\nscenario: server\nserver: {arrival: " +
                     good + "}\n"),
            "");
  const auto expect = [](const std::string& said, std::string_view words) {
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  expect(server(good, ", t_max_s: 1"),
         "at 0.500/s only 1 of the 3 times of the schedule are due within server.t_max_s (1 s)");
  expect(server(write("back.txt", "3\n2\n")), "p.yaml:4:19: schedule '");
  expect(server(write("back.txt", "3\n2\n")), "line 2: 2 s comes after 3 s; the times must ascend");
  expect(server((folder.path() / "flw.txt").string()),
         "flw.txt' does not exist; check the path (it is relative to the current directory); did you mean '");
  expect(server(folder.path().string()), "is a folder; name a file");
  expect(server("posson"), "server.arrival 'posson' is none of poisson, constant, and no file; did you mean");
  EXPECT_EQ(server("posson").find("a server needs"), std::string::npos);  // it may have been a file
  expect(mistakes("scenario: server\niterations: 9\nserver: {arrival: " + good + "}\n"),
         "9 requests, and the schedule");
  for (const auto* flag : {"--server.t_min_s", "--server.seed"}) {
    const std::vector<std::string> words{"--model",          "tiny_cnn", "--scenario", "server",
                                         "--server.arrival", good,       flag,         "2"};
    try {
      plan_from_flags(infer_flags(words));
      FAIL() << flag;
    } catch (const ConfigErrors& e) {
      expect(e.what(), std::string(flag) + "' changes nothing: the times are those of '");
    }
  }
}

TEST(LoadChecks, OptionsOfAnotherScenarioAreMistakes) {
  EXPECT_NE(mistakes("concurrency: 2\n").find("add scenario: closed_loop"), std::string::npos);
  EXPECT_NE(mistakes("scenario: offline\nslo: p99=5ms\n").find("'slo' is for the scenario server"),
            std::string::npos);
  EXPECT_NE(mistakes("server: {load: 0.5}\n").find("'server.load' is for the scenario server"),
            std::string::npos);
  EXPECT_NE(mistakes("scenario: offline\ntiming: [sync, pipelined]\n")
                .find("'timing' is for the scenario sync; add scenario: sync"),
            std::string::npos);
  EXPECT_EQ(mistakes("timing: [sync, pipelined]\n"), "");
  EXPECT_EQ(mistakes("scenario: offline\ntiming: sync\n"), "");
  EXPECT_EQ(mistakes("scenario: offline\nconcurrency: 2\n"), "");
}

TEST(LoadChecks, AdviceHasTheFormOfThePlaceOfTheMistake) {
  const auto flags = infer_flags({"--model", "tiny_cnn", "--concurrency", "2", "--server.load", "0.5"});
  std::string text;
  try {
    plan_from_flags(flags);
  } catch (const ConfigErrors& errors) {
    text = errors.what();
  }
  EXPECT_NE(text.find("--concurrency 2: concurrency is for"), std::string::npos) << text;
  EXPECT_NE(text.find("add --scenario closed_loop"), std::string::npos) << text;
  EXPECT_NE(text.find("add --scenario server"), std::string::npos) << text;
}

TEST(LoadChecks, BatchesAreForServers) {
  EXPECT_NE(mistakes("scenario: closed_loop\nserver: {max_batch: 4}\n").find("add scenario: server"),
            std::string::npos);
  EXPECT_NE(mistakes("scenario: offline\nserver: {max_batch: 4}\n").find("'server.max_batch'"),
            std::string::npos);
  const std::string server = "scenario: server\narrival_rate_per_s: 10\n";
  EXPECT_EQ(mistakes(server + "server: {max_batch: [1, 4], batch_timeout_ms: [0, 2.5]}\n"), "");
  EXPECT_NE(mistakes(server + "server: {batch_timeout_ms: 2}\n").find("needs server.max_batch"),
            std::string::npos);
  EXPECT_NE(mistakes(server + "server: {max_batch: 4, batch_timeout_ms: [1, 20], timeout_s: 0.02}\n")
                .find("(20) must be shorter than server.timeout_s (0.02)"),
            std::string::npos);
  EXPECT_NE(mistakes(server + "server: {max_batch: 0}\n"), "");
}

TEST(LoadChecks, ABadObjectiveIsFoundBeforeAnythingRuns) {
  EXPECT_NE(mistakes("scenario: server\nserver: {load: 0.5}\nslo: p99\n").find("p99=50ms"),
            std::string::npos);
}

}  // namespace
}  // namespace paceline::config
