// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <gtest/gtest.h>

#include "base/lower_case.h"

namespace paceline {
namespace {

TEST(Text, EditDistanceCountsATranspositionOnce) {
  EXPECT_EQ(edit_distance("resnet50", "resnet50"), 0U);
  EXPECT_EQ(edit_distance("resnte50", "resnet50"), 1U);
  EXPECT_EQ(edit_distance("fp17", "fp16"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
}

TEST(Text, NearestNameIsSilentWhenNothingIsClose) {
  const std::vector<std::string> names{"resnet50", "vit_b_16", "bert-large"};
  EXPECT_EQ(nearest_name("resnet5", names), "resnet50");
  EXPECT_EQ(nearest_name("vit-b-16", names), "vit_b_16");
  EXPECT_EQ(nearest_name("bert", names), "bert-large");
  EXPECT_EQ(nearest_name("yolo", names), std::nullopt);
}

TEST(LowerCase, ChangesLettersOnly) {
  EXPECT_EQ(lower_case("ResNet-50_V1.JPG"), "resnet-50_v1.jpg");
  EXPECT_EQ(lower_case("Größe"), "größe");  // bytes beyond ASCII stay
  EXPECT_EQ(lower_case(""), "");
}

TEST(Text, NumbersAreWholeOrNothing) {
  EXPECT_EQ(parse_int("12"), 12);
  EXPECT_EQ(parse_int("-3"), -3);
  for (const char* bad : {"", " 1", "1 ", "1x", "0x10", "1.5", "99999999999999999999"})
    EXPECT_EQ(parse_int(bad), std::nullopt) << bad;
  EXPECT_EQ(parse_double("0.05"), 0.05);
  for (const char* bad : {"", "nan", "inf", "1e999", "1,5", "five"})
    EXPECT_EQ(parse_double(bad), std::nullopt) << bad;
}

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(trim("  x y\t\n"), "x y");
  EXPECT_EQ(as_sentence("no such file"), "no such file.");
  EXPECT_EQ(as_sentence("is the folder new?"), "is the folder new?");
  EXPECT_EQ(as_sentence(""), "");
}

}  // namespace

TEST(Text, DistinguishesUtf8FromOtherBytes) {
  for (const std::string text : {"", "plain", "\xC3\xBC", "\xE5\x90\x8D", "\xF0\x9F\x9A\xB4"})
    EXPECT_TRUE(is_utf8(text)) << text;
  for (const std::string text :
       {"\xFF", "a\xC3", "\xC3\x28", "\xC0\x80", "\xE5\x90", "\x80", "\xF8\x88\x80\x80\x80"})
    EXPECT_FALSE(is_utf8(text)) << text;
}

}  // namespace paceline
