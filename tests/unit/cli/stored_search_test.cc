// SPDX-License-Identifier: MIT
#include "cli/tune/stored_search.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/scratch_folder.h"

namespace paceline::cli {
namespace {

using Words = std::vector<std::string>;

// The search of a folder, as it goes on with more words.
TuneRequest resumed(const std::filesystem::path& folder, Words more) {
  more.insert(more.begin(), {"--resume", folder.string()});
  auto request = tune_request(more);
  take_stored_search(request);
  return request;
}

Words limits_of(const TuneRequest& request) {
  Words written;
  for (const auto& limit : request.limits) written.push_back(limit.written);
  return written;
}

TEST(StoredSearch, ANewLimitReplacesThoseOnItsMetricOnly) {
  const auto scratch = ScratchFolder::below_temp("paceline-stored-search");
  const auto& folder = scratch.path();
  keep_search(folder, tune_request({"--slo", "p99<=20ms", "--slo", "memory_mb <= 500", "--min-accuracy",
                                    "top1_agreement >= 0.9", "--budget", "90s"}));
  EXPECT_EQ(limits_of(resumed(folder, {})),
            (Words{"p99<=20ms", "memory_mb <= 500", "top1_agreement >= 0.9"}));
  EXPECT_EQ(limits_of(resumed(folder, {"--slo", "p99<=10ms"})),
            (Words{"memory_mb <= 500", "p99<=10ms", "top1_agreement >= 0.9"}));
  EXPECT_EQ(limits_of(resumed(folder, {"--slo", "p50<=1ms"})),
            (Words{"p99<=20ms", "memory_mb <= 500", "p50<=1ms", "top1_agreement >= 0.9"}));
  const auto budget = resumed(folder, {"--budget", "10s"});
  EXPECT_EQ(budget.budget_s, 10);
  EXPECT_EQ(budget.limits.size(), 3U);
}

TEST(StoredSearch, GoesOnWithTheKindOfItsFirstPart) {
  const auto scratch = ScratchFolder::below_temp("paceline-stored-search");
  const auto& folder = scratch.path();
  keep_search(folder, tune_request({"train", "--objective", "latency", "--slo", "p50<=20ms"}));
  const auto request = resumed(folder, {"--budget", "10s"});
  EXPECT_EQ(request.kind, WorkloadKind::kTraining);
  EXPECT_EQ(request.objective->words, "median step time");
  EXPECT_EQ(limits_of(request), Words{"p50<=20ms"});
  EXPECT_EQ(request.budget_s, 10);
  auto infer = tune_request({"infer", "--resume", folder.string()});
  EXPECT_THROW(take_stored_search(infer), Error);
  auto train = tune_request({"train", "--resume", folder.string()});
  EXPECT_NO_THROW(take_stored_search(train));
}

}  // namespace
}  // namespace paceline::cli
