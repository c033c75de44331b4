// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "base/error.h"
#include "config/shapes.h"
#include "plan_helpers.h"

namespace paceline::config {
namespace {

using Declared = std::vector<DeclaredInput>;
using Batches = std::vector<std::int64_t>;

SettledShapes settled(const std::string& shapes, const Declared& declared = {}, const Batches& batches = {}) {
  return settle_shapes(shapes.empty() ? std::vector<InputShape>{} : parse_input_shapes(shapes), declared,
                       batches);
}
std::string text_of(const std::string& shapes, const Declared& declared = {}, const Batches& batches = {}) {
  const auto result = settled(shapes, declared, batches);
  std::string text = input_shapes_text(result.inputs) + " @";
  for (const auto batch : result.batches) text += " " + std::to_string(batch);
  return text;
}
std::string refusal_of(const std::string& shapes, const Declared& declared = {},
                       const Batches& batches = {}) {
  try {
    settled(shapes, declared, batches);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
DeclaredInput input(std::string name, Shape shape, std::vector<std::string> symbols = {},
                    DType dtype = DType::kFloat32) {
  return {std::move(name), dtype, std::move(shape), std::move(symbols)};
}

TEST(InputShapes, NamesMayHoldColonsAsTensorFlowsDo) {
  const auto shapes = parse_input_shapes("serving_default_x:0:1x224x224x3,ids:0:8x128:int64");
  ASSERT_EQ(shapes.size(), 2U);
  EXPECT_EQ(shapes[0].name, "serving_default_x:0");
  EXPECT_EQ(shapes[0].shape, (Shape{1, 224, 224, 3}));
  EXPECT_EQ(shapes[1].name, "ids:0");
  EXPECT_EQ(shapes[1].dtype, DType::kInt64);
}

TEST(InputShapes, AreWrittenAsTheyAreRead) {
  for (const char* text :
       {"x:{batch}x3x224x224", "a:2x{batch}x128,sr:scalar:int64", "x:0:1x3", "ids:8x128:int64",
        "axes:0:int64", "past:{batch}x2x0x8", "none", "in,mask:1x3", "c:2x3,a,b,d:{batch}x3:int64"})
    EXPECT_EQ(input_shapes_text(parse_input_shapes(text)), text);
  for (const char* text : {"x:{batch}x{batch}", "x:{batsh}x3", "x:scalarx3", "x:{batch}:int65", ":{batch}"})
    EXPECT_THROW(parse_input_shapes(text), Error) << text;
}

// As engines declare them that know no symbols (an OpenVINO .xml, a TensorRT engine).
TEST(SettledShapes, OpenDimensionsWithoutNamesHaveExamplesOfTheirOwn) {
  for (const auto& symbols : {std::vector<std::string>{}, std::vector<std::string>(4)}) {
    const auto refusal = refusal_of("", {input("x", {-1, -1, -1, 3}, symbols)});
    EXPECT_NE(refusal.find("'x' [?, ?, ?, 3]"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("'x:{batch}x224x224x3'"), std::string::npos) << refusal;
  }
  const auto two = refusal_of("", {input("past_keys", {-1, -1}, {"", ""}), input("x", {-1, -1}, {"", ""})});
  EXPECT_NE(two.find("past_keys:{batch}x0,x:{batch}x128"), std::string::npos) << two;
}

TEST(SettledShapes, AnInputWithoutElementsIsNoBatch) {
  const Declared declared{input("axes", {0}, {}, DType::kInt64), input("x", {3, 2})};
  EXPECT_EQ(text_of("", declared), "axes:0:int64,x:{batch}x2 @ 3");
  const Declared open{input("x", {3, 2}), input("axes", {-1}, {}, DType::kInt64)};
  EXPECT_EQ(text_of("axes:0:int64", open), "x:{batch}x2,axes:0:int64 @ 3");
}

TEST(SettledShapes, SizesThatAreWrittenStay) {
  EXPECT_EQ(text_of("x:1x512,w:20000x512", {}, {1}), "x:{batch}x512,w:20000x512 @ 1");
  EXPECT_EQ(text_of("w:20000x512,x:1x512", {}, {1}), "w:20000x512,x:{batch}x512 @ 1");
  EXPECT_EQ(text_of("x:8x10,state:2x8x128", {}, {8}), "x:{batch}x10,state:2x8x128 @ 8");
}

TEST(SettledShapes, WithoutABatchTheCommonSizeOfDimensionZeroIsIt) {
  EXPECT_EQ(text_of("x:4x3,ids:4x7:int64"), "x:{batch}x3,ids:{batch}x7:int64 @ 4");
  EXPECT_EQ(text_of("sr:scalar:int64"), "sr:scalar:int64 @ 1");
  EXPECT_EQ(text_of("x:4x3,sr:scalar:int64"), "x:{batch}x3,sr:scalar:int64 @ 4");
}

TEST(SettledShapes, TwoReadingsThatFitAreAnErrorThatShowsBoth) {
  const auto text = refusal_of("x:1x512,w:20000x512");
  EXPECT_NE(text.find("can be 1 (dimension 0 of 'x') or 20000 (dimension 0 of 'w')"), std::string::npos)
      << text;
  EXPECT_NE(text.find("with --batch 1 or --batch 20000, or mark it: --shapes 'x:{batch}x512,w:20000x512'"),
            std::string::npos)
      << text;
  EXPECT_EQ(text_of("x:{batch}x512,w:20000x512"), "x:{batch}x512,w:20000x512 @ 1");
}

TEST(SettledShapes, ABatchThatTheShapesDoNotHaveIsRefusedWithWhatToWrite) {
  const auto text = refusal_of("x:1x512", {}, {1, 8});
  EXPECT_NE(text.find("batch 8 is asked for, and shapes give 'x' the size 1 in dimension 0"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("'x:{batch}x512'"), std::string::npos) << text;
  EXPECT_EQ(text_of("x:{batch}x512", {}, {1, 8}), "x:{batch}x512 @ 1 8");
}

TEST(SettledShapes, ABatchThatTheFileDoesNotTakeIsTheFilesMatter) {
  const auto text = refusal_of("", {input("x", {1, 3})}, {8});
  EXPECT_NE(
      text.find("the file gives 'x' the size 1 in dimension 0; use --batch 1, or a file with an open batch"),
      std::string::npos)
      << text;
}

TEST(SettledShapes, AFileSaysItsInputs) {
  EXPECT_EQ(text_of("", {input("x", {1, 3, 224, 224})}), "x:{batch}x3x224x224 @ 1");
  EXPECT_EQ(text_of("", {input("x", {-1, 3, 224, 224}, {"N", "", "", ""})}, {1, 8}),
            "x:{batch}x3x224x224 @ 1 8");
  EXPECT_EQ(text_of("", {input("x", {1, 512}), input("w", {20000, 512})}), "x:{batch}x512,w:20000x512 @ 1");
  EXPECT_EQ(text_of("", {input("w", {8, 500}), input("x", {1, 8})}), "w:8x500,x:{batch}x8 @ 1");
  EXPECT_NE(refusal_of("x:8x3,w:500x3").find("can be 8 (dimension 0 of 'x') or 500"), std::string::npos);
  EXPECT_EQ(text_of("ids:4x16", {input("ids", {-1, -1}, {"batch", "seq"}, DType::kInt64)}),
            "ids:{batch}x16:int64 @ 4");
}

TEST(SettledShapes, AFileThatFixesOtherSizesForAllInputsHasNoBatch) {
  const Declared product{input("a", {2, 3}), input("b", {3, 4})};
  EXPECT_EQ(text_of("", product), "a:2x3,b:3x4 @ 1");
  EXPECT_EQ(text_of("a:2x3,b:3x4", product, {1}), "a:2x3,b:3x4 @ 1");
  EXPECT_EQ(text_of("", product, {2}), "a:{batch}x3,b:3x4 @ 2");
  EXPECT_EQ(text_of("", {input("a", {2, 3}), input("b", {2, 4})}), "a:{batch}x3,b:{batch}x4 @ 2");
}

TEST(SettledShapes, ASizeThatTheFirstOutputDoesNotHaveIsNoBatch) {
  const Declared signal{input("audio", {160})};
  const auto text = [&](const std::string& shapes, const Batches& batches, Shape output) {
    const auto written = shapes.empty() ? std::vector<InputShape>{} : parse_input_shapes(shapes);
    const auto result = settle_shapes(written, signal, batches, {output});
    return input_shapes_text(result.inputs) + " @ " + std::to_string(result.batches.front());
  };
  EXPECT_EQ(text("", {}, {1}), "audio:160 @ 1");
  EXPECT_EQ(text("", {}, {}), "audio:160 @ 1");
  EXPECT_EQ(text("audio:160", {1}, {-1, 2}), "audio:160 @ 1") << "as a stored plan has it";
  EXPECT_EQ(text("", {}, {160, 2}), "audio:{batch} @ 160");
  EXPECT_EQ(text("", {}, {-1, 2}), "audio:{batch} @ 160") << "the output leaves open whether it has the size";
}

TEST(SettledShapes, TheBatchIsWhereTheFileHasItsSymbol) {
  const Declared lstm{input("x", {-1, 10}, {"batch", ""}), input("state", {2, -1, 128}, {"", "batch", ""})};
  EXPECT_EQ(text_of("", lstm, {4}), "x:{batch}x10,state:2x{batch}x128 @ 4");
  EXPECT_EQ(text_of("x:8x10,state:2x8x128", lstm), "x:{batch}x10,state:2x{batch}x128 @ 8");
  EXPECT_NE(refusal_of("x:8x10,state:2x4x128", lstm).find("both are the batch"), std::string::npos);
  EXPECT_NE(refusal_of("x:8x10", lstm, {4}).find("batch 4 is asked for"), std::string::npos);
}

TEST(SettledShapes, TheExampleOfARecurrentStateHasTheBatchBehindItsLayers) {
  const Declared nameless{input("x", {-1, -1}, {"", ""}), input("state", {2, -1, 128}, {"", "", ""})};
  EXPECT_NE(refusal_of("", nameless).find("--shapes 'x:{batch}x128,state:2x{batch}x128'"), std::string::npos);
  EXPECT_NE(refusal_of("x:{batch}x512", nameless).find("--shapes 'x:{batch}x512,state:2x{batch}x128'"),
            std::string::npos);
}

TEST(SettledShapes, OpenDimensionsAreAskedForAsSomethingToCopy) {
  const Declared bert{input("input_ids", {-1, -1}, {"batch", "sequence"}, DType::kInt64),
                      input("pixels", {-1, 3, -1, -1}, {"batch", "", "h", "w"})};
  const auto text = refusal_of("", bert);
  EXPECT_NE(text.find("'input_ids' [batch, sequence], 'pixels' [batch, 3, h, w]"), std::string::npos) << text;
  const auto begin = text.find("--shapes '") + 10;
  const auto example = text.substr(begin, text.find('\'', begin) - begin);
  EXPECT_EQ(example, "input_ids:{batch}x128:int64,pixels:{batch}x3x224x224");
  EXPECT_EQ(text_of(example, bert), example + " @ 1");
}

TEST(SettledShapes, ShapesEqualToTheFilesAreReadAsTheFiles) {
  const Declared fixed{input("x", {1, 4}), input("w", {7, 4})};
  for (const char* written : {"", "x:1x4,w:7x4", "w:7x4", "x:1x4"})
    EXPECT_EQ(text_of(written, fixed), "x:{batch}x4,w:7x4 @ 1") << written;
  EXPECT_NE(refusal_of("x:1x4,w:8x4", fixed).find("can be 1"), std::string::npos) << "another size says more";
}

TEST(SettledShapes, AnEmptyDimensionIsASize) {
  const Declared cache{input("past", {-1, 2, -1, 8}, {"batch", "", "past", ""}),
                       input("x", {-1, 4}, {"batch", ""})};
  EXPECT_EQ(text_of("past:{batch}x2x0x8", cache), "past:{batch}x2x0x8,x:{batch}x4 @ 1");
  EXPECT_EQ(text_of("past:3x2x0x8", cache), "past:{batch}x2x0x8,x:{batch}x4 @ 3");
  EXPECT_NE(refusal_of("", cache).find("--shapes 'past:{batch}x2x0x8'"), std::string::npos)
      << "what a decoder starts with";
}

TEST(SettledShapes, ASymbolHasOneSize) {
  const Declared pair{input("a", {-1, -1}, {"N", "L"}), input("b", {-1, -1}, {"N", "L"}),
                      input("mask", {-1, -1}, {"N", "L + 3"})};
  EXPECT_EQ(text_of("a:{batch}x7", pair), "a:{batch}x7,b:{batch}x7,mask:{batch}x10 @ 1");
  EXPECT_NE(refusal_of("", pair).find("a:{batch}x128,b:{batch}x128,mask:{batch}x131'"), std::string::npos);
}

TEST(SettledShapes, ArraysGiveWhatTheFileLeavesOpen) {
  ShapeHints hints;
  hints.arrays = {{"x", DType::kFloat32, {6, 3, 5}}, {"sr", DType::kInt64, {}}};
  const auto text = [&](const Declared& declared) {
    const auto result = settle_shapes({}, declared, {2}, hints);
    return input_shapes_text(result.inputs) + " @ " + std::to_string(result.batches.front());
  };
  EXPECT_EQ(text({input("x", {-1, -1, 5}, {"N", "C", ""})}), "x:{batch}x3x5 @ 2");
  EXPECT_EQ(text({{"x", std::nullopt, std::nullopt}, {"sr", DType::kInt64, Shape{}}}),
            "x:{batch}x3x5,sr:scalar:int64 @ 2");
  EXPECT_THROW(text({input("x", {-1, -1}, {"N", "C"})}), Error) << "another rank";
}

TEST(SettledShapes, ABatchOfOneNeedsNoBatchDimension) {
  const Declared script{{"x", std::nullopt, std::nullopt}};
  EXPECT_EQ(text_of("x:3x64x64", script, {1}), "x:3x64x64 @ 1");
  EXPECT_EQ(text_of("x:3x64x64", script), "x:{batch}x64x64 @ 3");
  EXPECT_NE(refusal_of("x:3x64x64", {input("x", {3, 64, 64})}, {1}), "") << "a file that has ranks says more";
}

TEST(SettledShapes, ASymbolThatStandsTwiceInAnInputIsNoBatch) {
  const auto refusal = refusal_of("", {input("x", {-1, -1}, {"n", "n"})});
  EXPECT_NE(refusal.find("--shapes 'x:128x128'; 'n' stands twice in 'x': these sizes are equal"),
            std::string::npos)
      << refusal;
  EXPECT_EQ(text_of("x:5x5", {input("x", {-1, -1}, {"n", "n"}), input("z", {-1, 3}, {"b", ""})}, {2}),
            "x:5x5,z:{batch}x3 @ 2");
}

TEST(SettledShapes, ADeclaredZeroIsAskedFor) {
  const Declared declared{input("x", {-1, 4}, {"0", ""})};
  const auto refusal = refusal_of("", declared);
  for (const char* words : {"declares a size of 0 for 'x' [0, 4]", "--shapes 'x:0x4'", "--shapes 'x:1x4'"})
    EXPECT_NE(refusal.find(words), std::string::npos) << refusal;
  EXPECT_EQ(text_of("x:0x4", declared), "x:0x4 @ 1");
}

TEST(SettledShapes, ADecodersMaskCoversPastAndNewTokens) {
  const Declared decoder{
      input("input_ids", {-1, -1}, {"batch_size", "sequence_length"}, DType::kInt64),
      input("attention_mask", {-1, -1}, {"batch_size", "total_sequence_length"}, DType::kInt64),
      input("past.0.key", {-1, 2, -1, 8}, {"batch_size", "", "past_sequence_length", ""})};
  EXPECT_EQ(text_of("input_ids:{batch}x1:int64,past.0.key:{batch}x2x16x8", decoder),
            "input_ids:{batch}x1:int64,attention_mask:{batch}x17:int64,past.0.key:{batch}x2x16x8 @ 1");
  const auto refusal = refusal_of("", decoder);
  EXPECT_NE(refusal.find("attention_mask:{batch}x128:int64,past.0.key:{batch}x2x0x8"), std::string::npos)
      << refusal;
}

TEST(SettledShapes, AFileWithoutInputsNeedsNoShapes) {
  const TemporaryFile file("paceline_settle.onnx");
  ExtraNames extra;
  extra.declared_inputs = [](const std::string&, const std::string&, const auto&) { return Declared{}; };
  const std::string head = "kind: inference\nmodel: " + file.path() + "\n";
  const auto plan = load_plan_text(head, "p.yaml", {}, extra);
  const auto cases = expand(plan);
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_TRUE(case_inputs(cases[0]).empty());
  EXPECT_TRUE(same_plan(plan, load_plan_text(effective_yaml(plan), "effective.yaml")));
  EXPECT_THROW(load_plan_text(head + "batch: 4\n", "p.yaml", {}, extra), Error);
}

TEST(SettledShapes, ANumberThatTheFileComparesIsTaken) {
  const TemporaryFile file("paceline_settle.onnx");
  ExtraNames extra;
  extra.declared_inputs = [](const std::string&, const std::string&, const auto&) {
    return Declared{input("x", {1, 3}), input("sr", {}, {}, DType::kInt64)};
  };
  extra.compared_numbers = [](const std::string&) {
    return std::map<std::string, std::int64_t>{{"sr", 16000}};
  };
  const auto plan = load_plan_text("kind: inference\nmodel: " + file.path() + "\n", "p.yaml", {}, extra);
  EXPECT_EQ(plan.workloads.at(0).settings.texts("input_values"), std::vector<std::string>{"sr:16000"});
}

TEST(SettledShapes, SuggestsOnlyWhatIsKnown) {
  DeclaredInput conv{"x", std::nullopt, std::nullopt};
  conv.example = Shape{-1, 4, 224, 224};
  EXPECT_NE(refusal_of("", {conv}).find("--shapes 'x:{batch}x4x224x224'"), std::string::npos);
  EXPECT_NE(refusal_of("", {{"x", std::nullopt, std::nullopt}}).find("'x:{batch}xDIM', with the sizes"),
            std::string::npos);
}

TEST(SettledShapes, ShapesThatDoNotFitAreLeftToTheEngine) {
  const TemporaryFile damaged("paceline_damaged.onnx"), whole("paceline_whole.onnx");
  for (const auto& nonsense : {input("y", {7}), input("x", {-1, 3}, {"N", ""}, DType::kInt64)}) {
    ExtraNames extra;
    extra.declared_inputs = [&](const std::string& file, const std::string&, const auto&) {
      return Declared{file == whole.path() ? input("x", {-1, 3}, {"N", ""}) : nonsense};
    };
    const auto plan = load_plan_text("kind: inference\nmodels: [" + damaged.path() + ", " + whole.path() +
                                         "]\nengines: [onnxruntime]\nshapes: 'x:2x3'\n",
                                     "p.yaml", {}, extra);
    for (const auto& one : expand(plan)) EXPECT_EQ(case_inputs(one).at(0).shape, (Shape{2, 3}));
  }
}

TEST(SettledShapes, AFileThatIsReadGivesAPlanItsShapes) {
  const TemporaryFile file("paceline_settle.onnx");
  ExtraNames extra;
  extra.declared_inputs = [](const std::string&, const std::string&, const auto&) {
    return Declared{input("x", {-1, 3}, {"N", ""}), input("w", {7, 3})};
  };
  const auto plan = load_plan_text("kind: inference\nmodel: " + file.path() + "\nbatch_sizes: [2, 4]\n",
                                   "p.yaml", {}, extra);
  const auto cases = expand(plan);
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(case_inputs(cases[1]).at(0).shape, (Shape{4, 3}));
  EXPECT_EQ(case_inputs(cases[1]).at(1).shape, (Shape{7, 3}));
  EXPECT_EQ(case_batch_dimensions(cases[1]), (std::vector<std::int64_t>{0, -1}));
  EXPECT_TRUE(same_plan(plan, load_plan_text(effective_yaml(plan), "effective.yaml")));
}

// Its sizes alone do not say that it has no batch.
TEST(SettledShapes, AStoredPlanOfAFileWithoutABatchIsReadAgain) {
  const TemporaryFile file("paceline_settle.xml");
  ExtraNames extra;
  extra.declared_inputs = [](const std::string&, const std::string&, const auto&) {
    return Declared{input("a", {5, 7}), input("b", {7, 3})};
  };
  const auto plan = load_plan_text("kind: inference\nmodel: " + file.path() + "\n", "p.yaml", {}, extra);
  EXPECT_EQ(input_shapes_text(parse_input_shapes(plan.workloads.at(0).settings.text("shapes"))),
            "a:5x7,b:7x3");
  EXPECT_TRUE(same_plan(plan, load_plan_text(effective_yaml(plan), "effective.yaml", {}, extra)));
}

TEST(SettledShapes, RequestsAreOnlyPutTogetherAlongDimensionZero) {
  const TemporaryFile file("paceline_settle.pt");
  const std::string head =
      "kind: inference\nscenario: server\narrival_rate_per_s: 5\nserver: {max_batch: [4]}\nmodel: " +
      file.path() + "\nbatch: 1\n";
  EXPECT_NE(mistake_of(head + "shapes: 'x:{batch}x3,w:7x3'\n").find("'w' is w:7x3"), std::string::npos);
  EXPECT_TRUE(mistakes_of(head + "shapes: 'x:{batch}x3'\n").empty());
}

}  // namespace
}  // namespace paceline::config
