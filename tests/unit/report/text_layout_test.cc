// SPDX-License-Identifier: MIT
#include "report/text_layout.h"

#include <gtest/gtest.h>

namespace paceline::report {
namespace {

TEST(TextLayout, WidthCountsCodePoints) {
  EXPECT_EQ(display_width("54.1 ±0.9"), 9U);
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(pad_left("±1", 4), "  ±1");
  EXPECT_EQ(pad_right("±1", 4), "±1  ");
  EXPECT_EQ(pad_right("long", 2), "long");
}

TEST(TextLayout, TruncatesAtCodePoints) {
  EXPECT_EQ(truncate("±±±±", 4), "±±±±");
  EXPECT_EQ(truncate("±±±±", 3), "±±…");
  EXPECT_EQ(truncate("abc", 0), "");
  EXPECT_EQ(truncate_middle("net b1 HEAP=keep", 11), "net b…=keep");
  EXPECT_EQ(truncate_middle("±±±±±", 4), "±…±±");
  EXPECT_EQ(truncate_middle("abc", 3), "abc");
  EXPECT_EQ(truncate_middle("abc", 0), "");
}

TEST(TextLayout, WrapsAtBlanks) {
  EXPECT_EQ(wrap("a bb ccc", 4), (std::vector<std::string>{"a bb", "ccc"}));
  EXPECT_EQ(wrap("muchtoolong a", 4), (std::vector<std::string>{"muchtoolong", "a"}));
}

TEST(TextLayout, AsciiAndControlCharacters) {
  EXPECT_EQ(to_ascii("1.99–2.11 ±3 µs…"), "1.99-2.11 +/-3 us...");
  EXPECT_EQ(to_ascii("naïve ☃"), "na?ve ?");
  EXPECT_EQ(printable("a\x1b[31mb\n"), "a\\x1b[31mb\\n");
}

}  // namespace
}  // namespace paceline::report
