// SPDX-License-Identifier: MIT
#include "report/escape.h"

#include <gtest/gtest.h>

namespace paceline::report {
namespace {

TEST(Escape, Html) {
  EXPECT_EQ(escape_html("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
}

TEST(Escape, XmlDropsForbiddenControls) {
  EXPECT_EQ(escape_xml("a\x01\tb<"), "a\tb&lt;");
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
}  // namespace paceline::report
