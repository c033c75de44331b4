// SPDX-License-Identifier: MIT
#include "result/stored/result_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "base/error.h"
#include "result/metric_table.h"
#include "result/run_directory.h"

namespace paceline::result {
namespace {

CaseResult sample_case() {
  CaseResult c;
  c.case_id = "resnet50-eager-fp32-b1";
  c.label = "resnet50 eager fp32 b1";
  c.benchmark.model = "resnet50";
  c.grade = Grade::kB;
  c.headline.p50_ns = {54.1e6, 53.0e6, 55.2e6, 0.95, "binomial_neff"};
  c.stats.n = 42;
  c.stats.quantiles.push_back(
      {0.99, Number::missing("insufficient_samples"), {}, {}, 0.95, "binomial_neff", {}, Number(42.0)});
  c.repetitions.emplace_back();
  c.repetitions[0].converged = Maybe<bool>::missing("fixed_iterations");
  return c;
}

TEST(ResultJson, RoundTripKeepsEveryField) {
  const auto json = to_json(sample_case());
  const auto back = to_json(case_from_json(json, "x.json"));
  EXPECT_EQ(json, back);
  EXPECT_EQ(back["grade"], "B");
  EXPECT_EQ(back["stats"]["n"], 42);
}

TEST(ResultJson, MissingIsNullWithReasonNeverZero) {
  const auto json = to_json(sample_case());
  const auto& q = json["stats"]["quantiles"][0];
  EXPECT_TRUE(q["value_ns"].is_null());
  EXPECT_EQ(q["value_ns_reason"], "insufficient_samples");
  EXPECT_TRUE(json["throughput"]["per_s"]["value"].is_null());
  EXPECT_TRUE(json["repetitions"][0]["converged"].is_null());
  EXPECT_EQ(json["repetitions"][0]["converged_reason"], "fixed_iterations");
  const auto back = case_from_json(json, "x.json");
  EXPECT_FALSE(back.stats.quantiles[0].value_ns);
  EXPECT_EQ(back.stats.quantiles[0].value_ns.reason(), "insufficient_samples");
}

TEST(ResultJson, AMissingGradeIsNullWithItsReason) {
  auto c = sample_case();
  c.grade = Grade::kNone;
  const auto json = to_json(c);
  EXPECT_TRUE(json["grade"].is_null());
  EXPECT_NE(json["grade_reason"].get<std::string>(), "");
  EXPECT_EQ(case_from_json(json, "x.json").grade, Grade::kNone);
  c.unknown = json;
  c.grade = Grade::kA;
  EXPECT_FALSE(to_json(c).contains("grade_reason"));
}

TEST(ResultJson, NotFiniteBecomesMissing) {
  auto c = sample_case();
  c.stats.mean_ns = std::numeric_limits<double>::infinity();
  EXPECT_EQ(to_json(c)["stats"]["mean_ns_reason"], "not_finite");
}

// In files an optional is a list: empty, or of its value.
TEST(ResultJson, AnOptionalIsAListOfAtMostOne) {
  auto c = sample_case();
  auto json = to_json(c);
  EXPECT_EQ(json["load"], nlohmann::json::array());
  EXPECT_FALSE(case_from_json(json, "x.json").load());
  c.payload.emplace<Load>().slo.emplace().verdict = answer::Verdict::kYes;
  json = to_json(c);
  ASSERT_EQ(json["load"].size(), 1U);
  EXPECT_EQ(json["load"][0]["slo"][0]["verdict"], "met");
  EXPECT_EQ(std::get<Load>(case_from_json(json, "x.json").payload).slo.value().verdict,
            answer::Verdict::kYes);
  json["load"].push_back(json["load"][0]);
  EXPECT_THROW(case_from_json(json, "x.json"), Error);
}

TEST(ResultJson, ACaseHasThePayloadOfOneKind) {
  auto c = sample_case();
  c.payload.emplace<Training>().first_loss = 2;
  auto json = to_json(c);
  EXPECT_EQ(json["load"], nlohmann::json::array());
  EXPECT_EQ(json["collective"], nlohmann::json::array());
  EXPECT_DOUBLE_EQ(*case_from_json(json, "x.json").training()->first_loss, 2);
  EXPECT_EQ(case_from_json(json, "x.json").collective(), nullptr);
  json["load"].push_back(nlohmann::json::object());
  EXPECT_THROW(case_from_json(json, "x.json"), Error);
}

TEST(ResultJson, UnknownFieldsAreKeptAtEveryDepth) {
  auto json = to_json(sample_case());
  json["from_the_future"] = 7;
  json["headline"]["p50_ns"]["extra"] = "kept";
  auto c = case_from_json(json, "x.json");
  c.grade = Grade::kA;
  const auto back = to_json(c);
  EXPECT_EQ(back["from_the_future"], 7);
  EXPECT_EQ(back["headline"]["p50_ns"]["extra"], "kept");
  EXPECT_EQ(back["grade"], "A");
}

TEST(ResultJson, AValueThatCameBackDropsItsReason) {
  auto json = to_json(sample_case());
  auto c = case_from_json(json, "x.json");
  c.throughput.per_s.value = 18.5;
  const auto back = to_json(c);
  EXPECT_EQ(back["throughput"]["per_s"]["value"], 18.5);
  EXPECT_FALSE(back["throughput"]["per_s"].contains("value_reason"));
}

TEST(ResultJson, WrongTypeNamesFileAndField) {
  auto json = to_json(sample_case());
  json["stats"]["n"] = "many";
  try {
    case_from_json(json, "broken.json");
    FAIL() << "a text was accepted as a number";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kData);
    EXPECT_NE(std::string(e.what()).find("broken.json"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("stats.n"), std::string::npos);
  }
}

TEST(ResultJson, AnotherMajorVersionIsRefused) {
  auto json = to_json(sample_case());
  json["schema_version"] = "2.0";
  EXPECT_THROW(case_from_json(json, "x.json"), Error);
  json["schema_version"] = "1.7";
  EXPECT_NO_THROW(case_from_json(json, "x.json"));
}

TEST(ResultJson, SchemaDescribesWhatIsWritten) {
  const auto schema = result_json_schema();
  const auto& case_schema = schema["properties"]["cases"]["items"];
  const auto json = to_json(sample_case());
  for (const auto& [key, value] : json.items()) EXPECT_TRUE(case_schema["properties"].contains(key)) << key;
  EXPECT_EQ(case_schema["properties"]["grade"]["enum"], nlohmann::json::array({"A", "B", "C", nullptr}));
  EXPECT_EQ(case_schema["properties"]["stats"]["properties"]["mean_ns"]["type"],
            nlohmann::json::array({"number", "null"}));
}

TEST(SummaryCsv, MissingNumbersAreEmptyCells) {
  RunResult run;
  run.run_id = "r";
  run.cases.push_back(sample_case());
  CaseResult failed;
  failed.case_id = "b";
  failed.outcome = Outcome::kFailed;
  failed.reason = "crash, \"quoted\"";
  run.cases.push_back(failed);
  const std::string csv = summary_csv(run);
  const auto rows = [&] {
    std::vector<std::string> out;
    for (std::size_t at = 0, end; at < csv.size(); at = end + 1)
      out.push_back(csv.substr(at, (end = csv.find('\n', at)) - at));
    return out;
  }();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_NE(rows[0].find(",p50_ms,p50_ms_ci_low,p50_ms_ci_high,"), std::string::npos);
  EXPECT_NE(rows[1].find(",54.1,53,55.2,"), std::string::npos);
  EXPECT_NE(rows[2].find("\"crash, \"\"quoted\"\"\""), std::string::npos);
  EXPECT_NE(rows[2].find(",,,,"), std::string::npos);
  // Identity columns may hold counts; from the first metric on every cell of a failed case is empty.
  const auto metrics_begin = rows[0].find(",p50_ms,");
  const auto cells =
      std::count(rows[0].begin() + static_cast<std::ptrdiff_t>(metrics_begin), rows[0].end(), ',');
  EXPECT_TRUE(rows[2].ends_with(std::string(static_cast<std::size_t>(cells), ','))) << rows[2];
}

TEST(Metrics, NamesAreUniqueAndEndInTheirUnit) {
  std::set<std::string_view> names;
  for (const auto& m : metrics()) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name;
    if (m.unit == "ms") {
      EXPECT_TRUE(m.name.ends_with("_ms")) << m.name;
    }
    if (m.unit == "MB") {
      EXPECT_TRUE(m.name.ends_with("_mb")) << m.name;
    }
    EXPECT_FALSE(m.meaning.empty());
    EXPECT_FALSE(m.topic.anchor.empty());
  }
  EXPECT_NEAR(*find_metric("p50_ms")->get(sample_case()).value, 54.1, 1e-9);
  EXPECT_EQ(find_metric("nope"), nullptr);
}

}  // namespace
}  // namespace paceline::result
