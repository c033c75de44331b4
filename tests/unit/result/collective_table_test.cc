// SPDX-License-Identifier: MIT
#include "result/collective_table.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "result/figures/summarize_collective.h"

namespace paceline::result {
namespace {

// Two ranks that take 1000 ns an operation in a batch, 2000 to 2019 one by one.
CollectiveTimes times_of(std::int64_t bytes, bool in_place) {
  CollectiveTimes t;
  t.bytes = bytes, t.count = bytes / 4, t.in_place = in_place, t.checked = true, t.batch = 10;
  t.batch_ns = {10'000, 10'000};
  for (int rank = 0; rank < 2; ++rank) {
    t.stream_ns.push_back(std::vector<std::int64_t>(10, 1500));
    auto& sync = t.sync_ns.emplace_back();
    for (int i = 0; i < 20; ++i) sync.push_back(2000 + i * 7 % 20);
  }
  return t;
}

RunResult swept() {
  RunResult run;
  run.run_id = "run";
  auto& one = run.cases.emplace_back();
  one.case_id = "a,case";
  one.outcome = Outcome::kFailed;
  one.benchmark.threads = 3;
  auto& c = one.payload.emplace<CollectiveResult>();
  c.operation = "all_gather", c.dtype = "float", c.backend = "gloo";
  c.root = Count::missing("it has no root");
  c.ranks = {{0, "a", 1, ""}, {1, "b", 2, ""}};
  summarize_collective(c, {{0, {times_of(3000, false), times_of(3000, true), times_of(6000, false)}}}, 0.95);
  run.cases.emplace_back();  // of another kind
  return run;
}

using Row = std::map<std::string, std::string>;
std::vector<Row> rows_of(const RunResult& run) {
  std::istringstream text(collectives_csv(run));
  std::vector<std::string> heads;
  std::vector<Row> rows;
  for (std::string line; std::getline(text, line);) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"')
        quoted = !quoted;
      else if (c == ',' && !quoted)
        cells.emplace_back();
      else
        cells.back() += c;
    }
    if (heads.empty()) {
      heads = cells;
      continue;
    }
    EXPECT_EQ(cells.size(), heads.size()) << line;
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < std::min(heads.size(), cells.size()); ++i) row[heads[i]] = cells[i];
  }
  return rows;
}

TEST(CollectiveTable, HasARowPerSizePlaceAndMode) {
  const auto rows = rows_of(swept());
  ASSERT_EQ(rows.size(), 9u);
  std::vector<std::string> seen;
  for (const auto& row : rows)
    seen.push_back(row.at("size_bytes") + " " + row.at("place") + " " + row.at("mode"));
  EXPECT_EQ(seen[0], "3000 out_of_place one_by_one");
  EXPECT_EQ(seen[4], "3000 in_place back_to_back");
  EXPECT_EQ(seen[8], "6000 out_of_place batch");
}

TEST(CollectiveTable, SaysWhatWasMeasuredAndWithWhichInterval) {
  const auto row = rows_of(swept())[0];
  for (const auto& [name, value] : Row{{"run_id", "run"},
                                       {"case_id", "a,case"},
                                       {"outcome", "failed"},
                                       {"operation", "all_gather"},
                                       {"type", "float"},
                                       {"reduction", ""},
                                       {"root", ""},
                                       {"backend", "gloo"},
                                       {"device", "cpu"},
                                       {"hosts", "2"},
                                       {"ranks", "2"},
                                       {"threads", "3"},
                                       {"count", "750"},
                                       {"n", "20"},
                                       {"wrong", "0"},
                                       {"time_ns", "2009.5"},
                                       {"min_ns", "2000"},
                                       {"max_ns", "2019"},
                                       {"p99_ns", ""}})
    EXPECT_EQ(row.at(name), value) << name;
  EXPECT_NEAR(std::stod(row.at("algbw_gb_per_s")), 3000 / 2009.5, 1e-6);
  EXPECT_NEAR(std::stod(row.at("busbw_gb_per_s")), 1500 / 2009.5, 1e-6) << "half of the bytes cross the link";
  EXPECT_NEAR(std::stod(row.at("busbw_gb_per_s_ci_low")) * std::stod(row.at("time_ns_ci_high")), 1500, 1e-3);
  EXPECT_LT(std::stod(row.at("time_ns_ci_low")), 2009.5);
  EXPECT_GT(std::stod(row.at("time_ns_ci_high")), 2009.5);
}

TEST(CollectiveTable, ABatchHasNoInterval) {
  const auto row = rows_of(swept())[2];
  EXPECT_EQ(row.at("mode"), "batch");
  EXPECT_EQ(row.at("time_ns"), "1000");
  EXPECT_EQ(row.at("algbw_gb_per_s"), "3");
  EXPECT_EQ(row.at("time_ns_ci_low") + row.at("confidence") + row.at("n"), "");
}

}  // namespace
}  // namespace paceline::result
