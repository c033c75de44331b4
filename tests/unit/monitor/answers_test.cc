// SPDX-License-Identifier: MIT
// Answers of the monitor's server, and to whom.
#include "monitor/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "monitor/server.h"

namespace paceline::monitor {
namespace {

std::shared_ptr<const Snapshot> reading(std::int64_t utc_ms) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->utc_ms = utc_ms, snapshot->steady_ns = utc_ms * 1'000'000;
  snapshot->add("paceline_load1", "Load.", {}, 0.5);
  return snapshot;
}

Answer ask(const Answers& answers, const std::string& target, const std::string& host = "localhost:9400",
           const std::string& authorization = "") {
  return answers.answer({"GET", target, host, authorization});
}

TEST(Answers, HaveThePageMetricsAndTheNewestReading) {
  Answers answers("");
  EXPECT_EQ(ask(answers, "/metrics").status, 503);
  answers.show(reading(1));
  EXPECT_THAT(ask(answers, "/metrics").body, ::testing::HasSubstr("paceline_load1 0.5\n"));
  EXPECT_EQ(
      nlohmann::json::parse(ask(answers, "/live.json?x=1").body)["families"]["paceline_load1"][0]["value"],
      0.5);
  EXPECT_THAT(ask(answers, "/").type, ::testing::StartsWith("text/html"));
  EXPECT_EQ(ask(answers, "/../etc/passwd").status, 404);
  EXPECT_EQ(answers.answer({"POST", "/metrics", "localhost", ""}).status, 405);
}

TEST(Answers, KeepReadingsForAPageThatComesLater) {
  Answers answers("");
  for (int i = 1; i <= 310; ++i) answers.show(reading(i));
  const auto all = nlohmann::json::parse(ask(answers, "/readings.json").body);
  ASSERT_EQ(all.size(), 300U);
  EXPECT_EQ(all[0]["utc_ms"], 11);
  const auto later = nlohmann::json::parse(ask(answers, "/readings.json?since=308").body);
  ASSERT_EQ(later.size(), 2U);
  EXPECT_EQ(later[1]["utc_ms"], 310);
  EXPECT_EQ(nlohmann::json::parse(ask(answers, "/readings.json?since=310").body).size(), 0U);
}

TEST(Answers, WithoutATokenAreForNamesOfThisMachineAlone) {
  Answers answers("");
  answers.show(reading(1));
  for (const char* host : {"localhost", "LOCALHOST:1", "127.0.0.1:9400", "[::1]:9400"})
    EXPECT_EQ(ask(answers, "/metrics", host).status, 200);
  for (const char* host :
       {"evil.example:9400", "", "localhost.evil.example", "[fe80::1]", "127.0.0.1.evil.example", "127.",
        "[::1]evil", "localhost:80@evil", "localhost:1:2", "[::1", "127.0.0.1 "})
    EXPECT_EQ(ask(answers, "/metrics", host).status, 403) << host;
}

TEST(Answers, WithATokenAreForThoseWhoShowIt) {
  Answers answers("s3cret");
  answers.show(reading(1));
  EXPECT_EQ(ask(answers, "/metrics?token=s3cret", "far.example").status, 200);
  EXPECT_EQ(ask(answers, "/metrics?a=b&token=s3cret", "far.example").status, 200);
  EXPECT_EQ(ask(answers, "/metrics", "far.example", "Bearer s3cret").status, 200);
  Answers other("a/b+c==");
  other.show(reading(1));
  EXPECT_EQ(ask(other, "/metrics?token=a/b+c==", "far.example").status, 200);
  EXPECT_EQ(ask(other, "/metrics?token=a%2Fb%2Bc%3D%3d", "far.example").status, 200);
  for (const char* target : {"/metrics", "/", "/live.json", "/metrics?token=", "/metrics?token=s3creT",
                             "/metrics?token=s3cret1", "/none"}) {
    const auto answer = ask(answers, target);
    EXPECT_EQ(answer.status, 401) << target;
    EXPECT_THAT(answer.body, ::testing::Not(::testing::HasSubstr("paceline_")));
  }
  EXPECT_EQ(ask(answers, "/metrics", "localhost", "Basic s3cret").status, 401);
}

TEST(Address, IsHostAndPort) {
  EXPECT_EQ(address_of("9400").host, "127.0.0.1");
  EXPECT_EQ(address_of(":9400").port, 9400);
  EXPECT_EQ(address_of("[::1]:0").host, "::1");
  EXPECT_EQ(address_of("node7:80").host, "node7");
  for (const char* wrong : {"", "x", "x:", "x:70000", "x:-1", "http://x:80", "a b:1"})
    EXPECT_THROW(address_of(wrong), Error) << wrong;
}

TEST(Server, RefusesToBeReachedByOthersWithoutAToken) {
  EXPECT_THROW(Server({{"0.0.0.0", 0}, ""}), Error);
  const Server open({{"127.0.0.1", 0}, ""});
  EXPECT_THAT(open.url(), ::testing::StartsWith("http://127.0.0.1:"));
}

}  // namespace
}  // namespace paceline::monitor
