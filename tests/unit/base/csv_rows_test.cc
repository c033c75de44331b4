// SPDX-License-Identifier: MIT
#include "base/csv_rows.h"

#include <gtest/gtest.h>

#include "base/csv_cell.h"

namespace paceline {
namespace {

using Rows = std::vector<std::vector<std::string>>;

TEST(CsvRows, AreCellsByLine) {
  EXPECT_EQ(csv_rows("a,b\n1,\n"), (Rows{{"a", "b"}, {"1", ""}}));
  EXPECT_EQ(csv_rows("a,b\r\n1,2"), (Rows{{"a", "b"}, {"1", "2"}}));
  EXPECT_EQ(csv_rows("\n\na\n\n"), (Rows{{"a"}}));
  EXPECT_TRUE(csv_rows("").empty());
}

TEST(CsvRows, QuotesHoldSeparatorsAndLineEnds) {
  EXPECT_EQ(csv_rows("\"a,b\",\"c\nd\"\n"), (Rows{{"a,b", "c\nd"}}));
  EXPECT_EQ(csv_rows("\"say \"\"x\"\"\"\n"), (Rows{{"say \"x\""}}));
  EXPECT_EQ(csv_rows("\"never closed\n1"), (Rows{{"never closed\n1"}}));
}

TEST(CsvRows, GiveBackWhatCsvCellWrote) {
  for (const std::string text : {"plain", "a,b", "\"q\"", "=SUM(A1)", "''=x", "-5", "two\nlines", ""})
    EXPECT_EQ(csv_rows(csv_cell(text) + ",end\n"), (Rows{{text, "end"}})) << text;
}

}  // namespace
}  // namespace paceline
