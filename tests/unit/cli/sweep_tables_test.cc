// SPDX-License-Identifier: MIT
#include "cli/run/sweep_tables.h"

#include <gtest/gtest.h>

namespace paceline::cli {
namespace {

result::CaseResult sweep(const std::string& id, const std::vector<std::int64_t>& sizes) {
  result::CaseResult one;
  one.case_id = one.label = id;
  one.outcome = result::Outcome::kOk;
  one.benchmark.kind = config::WorkloadKind::kCollective;
  auto& c = one.payload.emplace<result::CollectiveResult>();
  c.operation = "all_reduce", c.dtype = "float32", c.reduction = "sum";
  for (const auto bytes : sizes) {
    auto& size = c.sizes.emplace_back();
    size.bytes = bytes, size.count = bytes / 4;
  }
  return one;
}
// Counts lines that are no comments.
std::ptrdiff_t rows_of(const std::string& text) {
  std::ptrdiff_t rows = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    rows += text[at] != '#' && text[at] != '\n';
  return rows;
}
std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

// Output of the tables while a run is measured.
struct Printed : run::RunObserver {
  Printed() {
    run::RunOverview overview;
    overview.experiment_name = "comm", overview.run_dir = "results/comm/run-1";
    tables.run_begins(overview);
  }
  void document(const std::string& text) override { last = text; }
  const std::string& row(const result::CaseResult& part) {
    tables.part_measured(part);
    return last;
  }
  const std::string& end(const result::CaseResult& one) {
    last.clear();
    tables.case_ends(one);
    return last;
  }
  const std::string& rest(const result::CaseResult& one) {
    last.clear();
    result::RunResult run;
    run.cases.push_back(one);
    tables.run_ends(run);
    return last;
  }

  std::string last;
  SweepTables tables{*this};
};

TEST(SweepTables, EachRowIsPrintedOnce) {
  Printed printed;
  const auto whole = sweep("a", {1024, 2048, 4096});
  const auto first = printed.row(sweep("a", {1024}));
  EXPECT_EQ(rows_of(first), 1);
  EXPECT_EQ(count_of(first, "run-1"), 1U);
  const auto second = printed.row(sweep("a", {2048}));
  EXPECT_EQ(rows_of(second), 1);
  EXPECT_EQ(count_of(second, "#"), 0U);
  EXPECT_EQ(rows_of(printed.end(whole)), 1);  // the third
  EXPECT_EQ(printed.end(whole), "");
  EXPECT_EQ(printed.rest(whole), "");
}

TEST(SweepTables, TheTitleStandsAboveTheFirstTableAlone) {
  Printed printed;
  EXPECT_EQ(count_of(printed.rest(sweep("a", {1024})), "run-1"), 1U);
  EXPECT_EQ(count_of(printed.rest(sweep("b", {1024})), "run-1"), 0U);
}

// The rows of all processes follow, and only these may be read as the result.
TEST(SweepTables, RowsOfOneOfSeveralProcessesAreComments) {
  Printed printed;
  auto part = sweep("a", {1024});
  part.repetitions_planned = 3;
  EXPECT_EQ(rows_of(printed.row(part)), 0);
  EXPECT_EQ(printed.end(part), "") << "no table was begun";
  EXPECT_EQ(rows_of(printed.rest(sweep("a", {1024, 2048}))), 2);
}

TEST(SweepTables, OtherCasesHaveNoTable) {
  Printed printed;
  EXPECT_EQ(printed.rest(result::CaseResult()), "");
}

}  // namespace
}  // namespace paceline::cli
