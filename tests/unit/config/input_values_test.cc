// SPDX-License-Identifier: MIT
#include "config/inference/input_values.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace paceline::config {
namespace {

std::string declared(const DeclaredInput& input, const std::string& shapes) {
  const auto values = declared_values(input, parse_input_shapes(shapes));
  return values ? input_values_text(*values) : "";
}

TEST(InputValues, AreWrittenAsTheyAreRead) {
  for (const char* text : {"sr:16000", "ids:0..999", "x:0:-1..1", "beam_idx:0..{batch}-1", "t:0.5"})
    EXPECT_EQ(input_values_text(parse_input_values(text)), text);
  EXPECT_EQ(parse_input_values("ids:0:1..2").name, "ids:0");
  for (const char* text : {"", "sr", ":1", "sr:", "sr:x", "sr:1..", "sr:2..1", "sr:nan", "sr:{batch}"})
    EXPECT_THROW(parse_input_values(text), Error) << text;
}

TEST(InputValues, FitTheType) {
  EXPECT_NO_THROW(check_values({"a", 0, 255}, DType::kUInt8));
  EXPECT_NO_THROW(check_values({"a", 0.5, 0.5}, DType::kFloat16));
  EXPECT_THROW(check_values({"a", 0, 256}, DType::kUInt8), Error);
  EXPECT_THROW(check_values({"a", -1, 0}, DType::kUInt32), Error);
  EXPECT_THROW(check_values({"a", 0.5, 1}, DType::kInt64), Error);
  EXPECT_THROW(check_values({"a", 0, 2}, DType::kBool), Error);
}

TEST(InputValues, FollowFromWhatIsIndexed) {
  DeclaredInput ids{"ids", DType::kInt64, Shape{-1}};
  EXPECT_EQ(declared(ids, "ids:{batch}:int64"), "");
  ids.id_limit = 50;
  EXPECT_EQ(declared(ids, "ids:{batch}:int64"), "ids:0..49");
  ids.id_limit = 1;
  EXPECT_EQ(declared(ids, "ids:{batch}:int64"), "ids:0");
  ids.id_limit = 1000, ids.dtype = DType::kInt8;
  EXPECT_EQ(declared(ids, "ids:{batch}:int8"), "ids:0..127") << "no more than its type holds";
  DeclaredInput beam{"beam", DType::kInt32, Shape{-1}};
  beam.indexes = {{"x", 0}};
  EXPECT_EQ(declared(beam, "x:{batch}x16,beam:{batch}:int32"), "beam:0..{batch}-1");
  beam.indexes = {{"x", 1}};
  EXPECT_EQ(declared(beam, "x:{batch}x16,beam:{batch}:int32"), "beam:0..15");
}

}  // namespace
}  // namespace paceline::config
