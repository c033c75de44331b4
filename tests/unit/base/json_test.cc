// SPDX-License-Identifier: MIT
#include "base/json.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace paceline {
namespace {

using Json = nlohmann::json;

TEST(WholeNumbers, AreReadWithinTheirType) {
  EXPECT_EQ(Json(-3).get<int>(), -3);
  EXPECT_EQ(Json(3.0).get<std::int64_t>(), 3);
  EXPECT_EQ(Json::parse("9223372036854775807").get<std::int64_t>(), INT64_MAX);
  EXPECT_EQ(Json::parse("-9223372036854775808.0").get<std::int64_t>(), INT64_MIN);
  EXPECT_EQ(Json::parse("18446744073709551615").get<std::uint64_t>(), UINT64_MAX);
  EXPECT_EQ(Json(true).get<int>(), 1);
}

TEST(WholeNumbers, BeyondTheirTypeAreRefusedInEveryWayOfReading) {
  for (const char* text : {"1.22222e112", "-1e300", "9223372036854775808", "9223372036854775808.0", "2.5"}) {
    const auto number = Json::parse(text);
    std::int64_t into = 0;
    EXPECT_THROW(static_cast<void>(number.get<std::int64_t>()), Json::type_error) << text;
    EXPECT_THROW(number.get_to(into), Json::type_error) << text;
    EXPECT_THROW(static_cast<void>(Json::array({number}).get<std::vector<std::int64_t>>()), Json::type_error);
    EXPECT_THROW(static_cast<void>(Json{{"n", number}}.value("n", std::int64_t{0})), Json::type_error);
  }
  EXPECT_THROW(static_cast<void>(Json(-1).get<std::size_t>()), Json::type_error);
  EXPECT_THROW(static_cast<void>(Json(300).get<std::uint8_t>()), Json::type_error);
}

TEST(WholeNumbers, AreWrittenAsEver) {
  EXPECT_EQ(Json(std::uint64_t{UINT64_MAX}).dump(), "18446744073709551615");
  EXPECT_EQ((Json{{"a", 1}, {"b", std::size_t{2}}, {"c", true}}).dump(), R"({"a":1,"b":2,"c":true})");
}

}  // namespace
}  // namespace paceline
