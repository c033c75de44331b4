// SPDX-License-Identifier: MIT
#include "base/display_text.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "base/text.h"

namespace paceline {
namespace {

TEST(DisplayText, ControlCharactersAreSpelled) {
  EXPECT_EQ(for_terminal("a\x1b[31mb\x07"), "a\\x1b[31mb\\x07");
  EXPECT_EQ(for_terminal("one\ntwo\tthree\r"), "one\ntwo\tthree\\x0d");
  EXPECT_EQ(for_terminal("\xC2\x9B"
                         "1m"),
            "\\xc2\\x9b1m")
      << "CSI as one character of C1";
  EXPECT_EQ(for_terminal("\xE2\x80\xAEgpj.x"), "\\xe2\\x80\\xaegpj.x") << "right-to-left override";
  EXPECT_EQ(for_terminal("größe – 模型"), "größe – 模型");
  EXPECT_EQ(for_terminal(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(DisplayText, JsonKeepsWhatItSays) {
  EXPECT_EQ(json_without_controls("{\n \"a\": \"\x7F\xC2\x9B\xE2\x80\xAE\xE2\x81\xA6 µ…é\"\n}"),
            "{\n \"a\": \"\\u007f\\u009b\\u202e\\u2066 µ…é\"\n}");
  EXPECT_EQ(json_without_controls("\xC2"), "\xC2");
  EXPECT_EQ(json_without_controls(""), "");
}

TEST(DisplayText, SomeControlCharactersMayStay) {
  EXPECT_EQ(without_controls("a\n\tb\r\x1b", "\n\t"), "a\n\tb\\x0d\\x1b");
  EXPECT_EQ(without_controls("a\nb", ""), "a\\nb");
}

TEST(DisplayText, OneLineHasNoLineEnds) {
  EXPECT_EQ(on_one_line("a\nb\tc"), "a\\nb\\tc");
}

TEST(DisplayText, LongLinesLoseTheirMiddle) {
  const std::string text = for_terminal("short\n" + std::string(200'000, 'x') + "end");
  EXPECT_LT(text.size(), 2200U);
  EXPECT_TRUE(text.starts_with("short\nxxx"));
  EXPECT_TRUE(text.ends_with("xend"));
  EXPECT_NE(text.find("bytes left out"), std::string::npos);
}

TEST(DisplayText, LongValuesAreCutAtACharacter) {
  EXPECT_EQ(shown_value("short"), "short");
  EXPECT_EQ(shown_value(std::string(200, 'x')), std::string(77, 'x') + "...");
  for (std::size_t lead = 0; lead < 3; ++lead) {
    std::string text(lead, 'x');
    for (int i = 0; i < 60; ++i) text += "模";
    EXPECT_TRUE(is_utf8(shown_value(text))) << lead;
    EXPECT_LE(shown_value(text).size(), 80U);
  }
}

TEST(DisplayText, LibrariesDoNotSpeakForThemselves) {
  EXPECT_EQ(plain_reason(std::runtime_error("[json.exception.parse_error.101] parse error at line 1")),
            "parse error at line 1");
  EXPECT_EQ(plain_reason(std::bad_alloc()), "there is not enough memory");
  EXPECT_EQ(plain_reason(std::runtime_error("[a] b")), "[a] b");
}

}  // namespace
}  // namespace paceline
