// SPDX-License-Identifier: MIT
#include "answer/text_layout.h"

#include <gtest/gtest.h>

#include "base/display_text.h"

namespace paceline::answer {
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

TEST(TextLayout, LabelsKeepWhatTellsThemApart) {
  using Labels = std::vector<std::string>;
  const Labels fits{"net eager b1", "net eager b8"};
  EXPECT_EQ(short_labels(fits, 12), fits);
  // Differences are in the middle, where one label alone would be cut.
  EXPECT_EQ(
      short_labels({"a_very_long_model_name.onnx eager fp32 b1", "a_very_long_model_name.onnx eager int8 b1"},
                   28),
      (Labels{"a_very…me.onnx eager fp32 b1", "a_very…me.onnx eager int8 b1"}));
  EXPECT_EQ(short_labels({"encoder_variant_one_0001 eager", "encoder_variant_one_0002 eager"}, 20),
            (Labels{"encode…ne_0001 eager", "encode…ne_0002 eager"}));
  EXPECT_EQ(short_labels({"encoder_variant_one a", "encoder_variant_two eager"}, 21),
            (Labels{"encoder_variant_one a", "encod…riant_two eager"}));  // what fits stays whole
  const Labels only_middle{"abcdefghXijklmnop", "abcdefghYijklmnop"};
  for (const auto& label : short_labels(only_middle, 6))
    EXPECT_NE(label.find_first_of("XY"), std::string::npos) << label;  // rather too wide than equal
  EXPECT_TRUE(short_labels({}, 5).empty());
  EXPECT_EQ(short_labels({"one word", "now three words here"}, 10).size(), 2U);
}

TEST(TextLayout, WordsThatAllLabelsShareStandAboveThem) {
  using Labels = std::vector<std::string>;
  const Labels graphs{"resnet50 eager fp16 b256 channels_last cuda cuda_graph=true",
                      "resnet50 eager amp_fp16 b256 channels_last cuda cuda_graph=true",
                      "resnet50 torchscript fp16 b256 channels_last cuda cuda_graph=true"};
  const auto split = split_shared(graphs);
  EXPECT_EQ(split.shared, "resnet50 · b256 · channels_last · cuda · cuda_graph=true");
  EXPECT_EQ(split.own, (Labels{"eager fp16", "eager amp_fp16", "torchscript fp16"}));
  EXPECT_EQ(split_shared({graphs[0]}).own, Labels{graphs[0]});
  // A label that has nothing of its own keeps its first word.
  const auto bare = split_shared({"gpt2 eager fp32 b1", "gpt2 eager fp32 b1 X=a"});
  EXPECT_EQ(bare.shared, "eager · fp32 · b1");
  EXPECT_EQ(bare.own, (Labels{"gpt2", "gpt2 X=a"}));
  EXPECT_EQ(split_shared({"b1 b1 x", "b1 y z"}).own, (Labels{"b1 x", "y z"}));
}

TEST(TextLayout, WrapsAtBlanks) {
  EXPECT_EQ(wrap("a bb ccc", 4), (std::vector<std::string>{"a bb", "ccc"}));
  EXPECT_EQ(wrap("muchtoolong a", 4), (std::vector<std::string>{"muchtoolong", "a"}));
}

TEST(TextLayout, AsciiAndControlCharacters) {
  EXPECT_EQ(to_ascii("1.99–2.11 ±3 µs…"), "1.99-2.11 +/-3 us...");
  EXPECT_EQ(to_ascii("naïve ☃"), "na?ve ?");
  EXPECT_EQ(on_one_line("a\x1b[31mb\n"), "a\\x1b[31mb\\n");
}

}  // namespace
}  // namespace paceline::answer
