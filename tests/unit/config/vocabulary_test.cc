// SPDX-License-Identifier: MIT
#include "config/vocabulary.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "config/shapes.h"
#include "support/declared_options.h"

namespace paceline::config {
namespace {

struct Golden {
  const char* name;
  std::int64_t parameters;
  std::int64_t sequence_length;
  std::int64_t macs;
};

class Models : public testing::TestWithParam<Golden> {};

TEST_P(Models, CountsEqualThePublishedIntegers) {
  const Model* model = find_model(GetParam().name);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->parameters, GetParam().parameters);
  EXPECT_EQ(model->forward_macs(GetParam().sequence_length), GetParam().macs);
}

INSTANTIATE_TEST_SUITE_P(Golden, Models,
                         testing::Values(Golden{"resnet50", 25'557'032, 0, 4'089'184'256},
                                         Golden{"vit_b_16", 86'567'656, 0, 17'563'828'224},
                                         Golden{"bert-large", 335'141'888, 128, 39'460'012'032},
                                         Golden{"bert-large", 335'141'888, 384, 123'211'874'304},
                                         Golden{"bert-large", 335'141'888, 512, 167'503'724'544},
                                         Golden{"gpt2", 124'439'808, 1024, 145'824'153'600}));

TEST(ModelRows, ConvolutionsHaveTheirShareOfTheMacs) {
  const auto share = [](const char* name) { return find_model(name)->convolution_share(128); };
  EXPECT_NEAR(share("resnet50"), 0.9995, 1e-4);
  EXPECT_NEAR(share("tiny_cnn"), 0.9875, 1e-4);
  EXPECT_NEAR(share("vit_b_16"), 0.0066, 1e-4);
  EXPECT_EQ(share("bert-large"), 0);
  EXPECT_EQ(share("peak_conv"), 1);
}

// Layers counted one by one: kernel area x channels x output area for each of the 53 convolutions.
TEST(Resnet50, MacsEqualALayerWalk) {
  std::int64_t macs = std::int64_t{112} * 112 * 64 * 3 * 49;
  std::int64_t in = 64, size = 56;
  const std::int64_t blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t width = std::int64_t{64} << stage;
    for (std::int64_t block = 0; block < blocks[stage]; ++block) {
      const std::int64_t out_size = block == 0 && stage > 0 ? size / 2 : size;
      macs += size * size * in * width + out_size * out_size * width * width * 9 +
              out_size * out_size * width * width * 4;
      if (block == 0) macs += out_size * out_size * in * width * 4;
      in = width * 4;
      size = out_size;
    }
  }
  EXPECT_EQ(macs + 2048 * 1000, find_model("resnet50")->forward_macs(0));
}

TEST(TinyCnn, ParametersAndMacsEqualALayerWalk) {
  const Model* model = find_model("tiny_cnn");
  EXPECT_EQ(model->parameters, 16 * 27 + 2 * 16 + 32 * 144 + 2 * 32 + 2048 * 10 + 10);
  EXPECT_EQ(model->forward_macs(0), 32 * 32 * 16 * 27 + 16 * 16 * 32 * 144 + 2048 * 10);
}

TEST(Vocabulary, InputsHaveTheirFullShapes) {
  const auto image = model_inputs(*find_model("resnet50"), 8, 0);
  ASSERT_EQ(image.size(), 1U);
  EXPECT_EQ(image[0].name, "input");
  EXPECT_EQ(image[0].dtype, DType::kFloat32);
  EXPECT_EQ(image[0].shape, (Shape{8, 3, 224, 224}));
  const auto tokens = model_inputs(*find_model("gpt2"), 2, 64);
  EXPECT_EQ(tokens[0].dtype, DType::kInt64);
  EXPECT_EQ(tokens[0].shape, (Shape{2, 64}));
  EXPECT_EQ(find_model("gpt2")->inputs[0].id_limit, 50257);
}

TEST(Vocabulary, InternalModelsMeasureThePeak) {
  const Model* gemm = find_model("peak_gemm");
  ASSERT_TRUE(gemm && gemm->internal);
  EXPECT_EQ(model_inputs(*gemm, gemm->internal_batch, 0)[0].shape, (Shape{2048, 2048}));
  const Model* conv = find_model("peak_conv");
  EXPECT_EQ(model_inputs(*conv, conv->internal_batch, 0)[0].shape, (Shape{8, 128, 56, 56}));
  EXPECT_EQ(conv->forward_macs(0), std::int64_t{56} * 56 * 128 * 128 * 9);
}

TEST(Vocabulary, ToleratesMoreWithFewerBits) {
  const auto limit = [](const char* name, Task task) { return tolerance(*find_precision(name), task); };
  EXPECT_DOUBLE_EQ(limit("fp32", Task::kCnn).max_rel_err, 1e-5);
  EXPECT_DOUBLE_EQ(limit("fp32", Task::kTransformer).max_rel_err, 1e-4);
  EXPECT_DOUBLE_EQ(limit("fp32", Task::kCnn).centred_cosine, 0.99999);
  EXPECT_DOUBLE_EQ(limit("amp_fp16", Task::kCnn).centred_cosine, 0.999);
  EXPECT_DOUBLE_EQ(limit("bf16", Task::kTransformer).centred_cosine, 0.98);
  EXPECT_LT(limit("fp16", Task::kCnn).max_rel_err, limit("bf16", Task::kCnn).max_rel_err);
}

TEST(Vocabulary, APlugInDeclaresWhichFilesItsEngineReads) {
  use_declared_engines({{"one", {".x", ".y"}, {".x"}, {}, {}, {}}, {"two", {".x"}, {".x"}, {}, {}, {}}});
  EXPECT_EQ(find_file_type("m.x")->engine, "one");
  EXPECT_EQ(find_file_type("m.x")->readers, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(find_file_type("m.y")->engine, "");
  EXPECT_EQ(find_file_type("m.onnx"), nullptr);
  ::paceline::test::use_options_of_this_build();
}

TEST(Vocabulary, FileTypesFollowFromTheSuffix) {
  EXPECT_EQ(find_file_type("a/b/model.pt")->engine, "");
  EXPECT_EQ(find_file_type("m.engine")->engine, "tensorrt");
  EXPECT_EQ(find_file_type("m.plan")->engine, "tensorrt");
  EXPECT_EQ(find_file_type("m.pt2")->engine, "aotinductor");
  EXPECT_EQ(find_file_type("resnet50"), nullptr);
  EXPECT_EQ(find_file_type(".pt"), nullptr);
}

TEST(Shapes, ReadTrtexecsSyntax) {
  const auto specs = parse_shapes("input:8x3x224x224,ids:8x128:int64");
  ASSERT_EQ(specs.size(), 2U);
  EXPECT_EQ(specs[0].name, "input");
  EXPECT_EQ(specs[0].dtype, DType::kFloat32);
  EXPECT_EQ(specs[0].shape, (Shape{8, 3, 224, 224}));
  EXPECT_EQ(specs[1].dtype, DType::kInt64);
  EXPECT_EQ(specs[1].shape, (Shape{8, 128}));
  EXPECT_EQ(parse_shapes("past:0x3").at(0).shape, (Shape{0, 3}));
}

TEST(Shapes, RejectInvalidShapes) {
  for (const char* text : {"", "input", "input:", ":1x3", "a:-1x3", "a:1x", "a:1xb", "a:1x3:float99",
                           "a:1:int64:x", "a:1,a:2", "a:99999999999x9999999999", "a:1,"})
    EXPECT_THROW(parse_shapes(text), Error) << text;
}

}  // namespace
}  // namespace paceline::config
