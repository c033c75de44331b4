// SPDX-License-Identifier: MIT
#include "base/arrival_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"

namespace paceline {
namespace {

using Seconds = std::vector<double>;

std::string refusal_of(std::string_view text) {
  try {
    parse_arrivals(text, "flow.txt");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kData);
    return e.what();
  }
  return "";
}

void expect_refused(std::string_view text, std::string_view why) {
  EXPECT_NE(refusal_of(text).find(why), std::string::npos) << refusal_of(text) << "\nmisses: " << why;
}

TEST(ArrivalFile, ATextHasOneTimePerLineInSeconds) {
  const auto file = parse_arrivals("# recorded on Monday\n2.5\r\n\n3\n3\n  4.25  \n", "");
  EXPECT_EQ(file.format, "text");
  EXPECT_EQ(file.unit, "s");
  EXPECT_EQ(file.seconds, (Seconds{0, 0.5, 0.5, 1.75}));
  EXPECT_DOUBLE_EQ(file.length_s(), 1.75);
  EXPECT_DOUBLE_EQ(file.rate_per_s(), 3 / 1.75);
}

TEST(ArrivalFile, ACsvHasAColumnWhoseNameTellsTheUnit) {
  const auto plain = parse_arrivals("\xef\xbb\xbfmodel,Timestamp,tokens\nx,10,3\n\"a,b\",11.5,\n", "");
  EXPECT_EQ(plain.format, "CSV, column timestamp");
  EXPECT_EQ(plain.unit, "s");
  EXPECT_EQ(plain.seconds, (Seconds{0, 1.5}));
  const auto ms = parse_arrivals("arrival_ms\n500\n1500\n", "");
  EXPECT_EQ(ms.unit, "ms");
  EXPECT_EQ(ms.seconds, (Seconds{0, 1}));
  EXPECT_EQ(parse_arrivals("Time_us\n0\n2000000\n", "").seconds, (Seconds{0, 2}));
  EXPECT_EQ(parse_arrivals("arrival_time_ns\n0\n3000000000\n", "").seconds, (Seconds{0, 3}));
}

TEST(ArrivalFile, ACsvMayHaveDatesAndQuotedLineEnds) {
  const auto file = parse_arrivals(
      "TIMESTAMP,prompt\n2023-11-16 23:59:59.5000000,\"two\nlines\"\n2023-11-17T00:00:01Z,\n2023-11-17 "
      "00:00:02.25+00:00,\n",
      "");
  EXPECT_EQ(file.unit, "date");
  EXPECT_EQ(file.seconds, (Seconds{0, 1.5, 2.75}));
  expect_refused("time\n2023-11-16 00:00:00\n5\n", "line 3: '5' in column 'time' is no date and time");
  expect_refused("time\n2023-13-16 00:00:00\n5\n",
                 "line 2: '2023-13-16 00:00:00' in column 'time' is no number");
}

TEST(ArrivalFile, JsonLinesAreInMilliseconds) {
  const auto file = parse_arrivals(
      "{\"timestamp\": 27482, \"hash_ids\": [1, 2]}\n{\"input_length\": 5, \"timestamp\": 30482.5}\n", "");
  EXPECT_EQ(file.format, "JSON lines");
  EXPECT_EQ(file.unit, "ms");
  EXPECT_EQ(file.seconds, (Seconds{0, 3.0005}));
  expect_refused("{\"timestamp\": 0}\n{\"time\": 3}\n", "line 2: no 'timestamp' in '{\"time\": 3}'");
  expect_refused("{\"timestamp\": 0}\n{\"timestamp\": \"3\"}\n", "line 2: 'timestamp' is '\"3\"'");
  expect_refused("{\"timestamp\": 0}\n7\n", "line 2: '7' is no JSON object");
  expect_refused("{\"timestamp\": 0\n", "line 1: '{\"timestamp\": 0' is no JSON object");
}

TEST(ArrivalFile, NamesTheLineOfATimeThatIsNone) {
  expect_refused("1\n# a comment\n\n0.5\n", "schedule 'flow.txt', line 4: 0.5 s comes after 1 s");
  expect_refused("time_ms,x\n7,\n\"6\",\n", "line 3: 6 ms comes after 7 ms");
  expect_refused("time,x\n2023-11-16 00:00:01,\n2023-11-16 00:00:00,\n", "line 3: 1700092800.000000 s since");
  expect_refused("0\n-1\n", "line 2: -1 s is negative");
  expect_refused("0\nnan\n", "line 2: 'nan' is no time in seconds");
  expect_refused("0\n1e999\n", "line 2: '1e999' is no time");
  expect_refused("0\n1 2\n", "line 2: '1 2' is no time");
  expect_refused("time,x\n1,2\n,3\n", "line 3: '' in column 'time' is no number, in s");
  expect_refused("x,time\n1,2\n3\n", "line 3: '3' has no column 2, which is 'time'");
}

TEST(ArrivalFile, AQuoteInACommentIsNone) {
  EXPECT_EQ(parse_arrivals("# 5\" disks\n0\n1\n", "flow.txt").seconds, (std::vector<double>{0, 1}));
  const auto csv = parse_arrivals("id,time\n1,0\n# 5\" disks\n2,1\n3,2\n# 3\"\n", "flow.csv");
  EXPECT_EQ(csv.seconds, (std::vector<double>{0, 1, 2}));
}

TEST(ArrivalFile, DueWithinATimeIsByTheMeanRateAskedFor) {
  const ArrivalFile file{"text", "s", {0, 1, 2, 3, 100}};
  EXPECT_EQ(due_within(file, 2.5), 3U);
  EXPECT_EQ(due_within(file, 2.5, 1), 3U);  // the third comes at 2 s
  EXPECT_EQ(due_within(file, 2.5, 100), 5U);
  EXPECT_EQ(due_within(file, 0.5, 1), 1U);
}

TEST(ArrivalFile, EqualTimesHaveOneDigestWhateverTheirFormat) {
  const auto digest = [](std::string_view text, bool scaled = false) {
    return times_digest(parse_arrivals(text, "flow"), scaled);
  };
  const auto text = digest("0\n0.1\n0.3\n");
  EXPECT_EQ(text.size(), 16U);
  EXPECT_EQ(digest("{\"timestamp\": 7000}\n{\"timestamp\": 7100}\n{\"timestamp\": 7300}\n"), text);
  EXPECT_EQ(digest("time_us\n5\n100005\n300005\n"), text);
  EXPECT_EQ(digest("time\n2026-11-29 18:15:46.6\n2026-11-29 18:15:46.7\n2026-11-29 18:15:46.9\n"), text);
  EXPECT_NE(digest("0\n0.1\n0.300002\n"), text);
  EXPECT_NE(digest("0\n0.1\n"), text);
  EXPECT_NE(digest("0\n0.2\n0.6\n"), text);
  EXPECT_EQ(digest("0\n0.2\n0.6\n", true), digest("0\n0.1\n0.3\n", true));
  EXPECT_NE(digest("0\n0.3\n0.6\n", true), digest("0\n0.1\n0.3\n", true));
}

TEST(ArrivalFile, TimesThatDifferInTheirRateHaveOneScaledDigest) {
  for (const double factor : {1.1, 1 / 3.0, 7.0}) {
    std::string recorded, faster;
    for (int i = 0; i < 1000; ++i) {
      const double time = 0.000137 * i + 1e-6 * (i * 37 % 91);
      recorded += fmt::format("{:.6f}\n", time), faster += fmt::format("{:.12f}\n", time / factor);
    }
    EXPECT_EQ(times_digest(parse_arrivals(recorded, "a"), true),
              times_digest(parse_arrivals(faster, "b"), true))
        << factor;
  }
}

TEST(ArrivalFile, RefusesWhatIsNoSchedule) {
  expect_refused("", "contains no time");
  expect_refused("# nothing\n", "contains no time");
  expect_refused("time\n", "has a header and no time below it");
  expect_refused("5\n", "contains one time; at least two");
  expect_refused("5\n5\n5\n", "contains the same time 3 times; use --scenario offline");
  expect_refused(std::string_view("\x7f"
                                  "ELF\0\1",
                                  6),
                 "is no text");
  expect_refused("\xff\xfe\n", "is no text");
  expect_refused("model,tokens\n1,2\n", "line 1: 'model,tokens' is no time in seconds");
  expect_refused("1,2\n2,3\n", "line 1: '1,2' is no time in seconds");
  expect_refused("[{\"timestamp\": 0}]\n", "is no time in seconds");
}

TEST(ArrivalFile, TakesAMillionLines) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += fmt::format("{}.5\n", i);
  const auto folder = ScratchFolder::below_temp("arrivals");
  write_file_atomic(folder.path() / "flow.txt", text);
  const auto file = read_arrivals(folder.path() / "flow.txt");
  EXPECT_EQ(file.seconds.size(), 1'000'000U);
  EXPECT_DOUBLE_EQ(file.rate_per_s(), 1);
  EXPECT_THROW(read_arrivals(folder.path()), Error);
  EXPECT_THROW(read_arrivals(folder.path() / "none.txt"), Error);
}

}  // namespace
}  // namespace paceline
