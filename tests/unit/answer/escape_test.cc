// SPDX-License-Identifier: MIT
#include "answer/render/escape.h"

#include <gtest/gtest.h>

namespace paceline::answer {
namespace {

TEST(Escape, Html) {
  EXPECT_EQ(escape_html("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
}

TEST(Escape, ControlCharactersAreSpelledEverywhere) {
  for (const auto& escape : {escape_html, escape_xml}) {
    EXPECT_EQ(escape("a\x01\tb<"), "a\\x01\tb&lt;");
    EXPECT_EQ(escape("\x1b[31m\xC2\x9B\xE2\x80\xAE\r\n"), "\\x1b[31m\\xc2\\x9b\\xe2\\x80\\xae\\x0d\n");
  }
  EXPECT_EQ(escape_markdown("\x1b[2J"), "\\\\x1b\\[2J");
}

TEST(Escape, MarkdownKeepsOneCellOneCell) {
  EXPECT_EQ(escape_markdown("a|b\nc"), "a\\|b c");
  EXPECT_EQ(escape_markdown("a\x1b[2Jb").find('\x1b'), std::string::npos);
  EXPECT_EQ(escape_markdown("<b>amp_bf16*"), "&lt;b&gt;amp\\_bf16\\*");
}

TEST(Escape, IdsAreDistinctAndPlain) {
  EXPECT_EQ(html_id("case-", "bert-large_b1"), "case-bert-large_b1");
  EXPECT_NE(html_id("", "a b"), html_id("", "a.b"));
  EXPECT_EQ(html_id("", "\"><x"), "-22-3e-3cx");
}

}  // namespace
}  // namespace paceline::answer
