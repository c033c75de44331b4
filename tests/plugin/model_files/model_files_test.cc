// SPDX-License-Identifier: MIT
// Requirements on every engine for ONNX files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "plugin/model_files/driver.h"

namespace paceline::model_files_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Failure = std::pair<std::optional<ErrorCode>, std::string>;

class ModelFiles : public testing::Test {
 protected:
  std::string saved(OnnxFile file, const std::string& name = "m.onnx") {
    file.save(folder_.file(name));
    return folder_.file(name);
  }
  [[nodiscard]] std::string written(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_.file(name), std::ios::binary) << bytes;
    return folder_.file(name);
  }
  static std::vector<Tensor> images(std::int64_t batch) {
    std::vector<Tensor> data;
    data.push_back(tensor("x", {batch, 3, 8, 8}, values(batch * 192, 5)));
    return data;
  }
  static Failure load_failure(const std::string& file, const std::vector<TensorSpec>& inputs,
                              const Settings& settings = {}) {
    return error_of([&] { load(file, inputs, settings); });
  }
  TemporaryFolder folder_;
};

TEST_F(ModelFiles, AConvolutionGivesItsValuesForEveryBatch) {
  const auto file = saved(convolution());
  for (const std::int64_t batch : {1, 3}) {
    auto data = images(batch);
    const auto engine = load(file, specs_of(data));
    bind(*engine, data);
    EXPECT_LE(relative_error(run(*engine), convolution_output(data[0])), 1e-5);
    EXPECT_EQ(engine->synchronize(0)[0].shape, (Shape{batch, 4, 6, 6}));
    EXPECT_EQ(engine->synchronize(0)[0].name, "y");
  }
}

TEST_F(ModelFiles, IntegerInputsAndSeveralOpenDimensions) {
  std::vector<Tensor> data;  // not in the file's order: inputs go by name
  data.push_back(tensor("scale", {1}, std::vector<float>{0.5F}));
  data.push_back(tensor("ids", {2, 3}, std::vector<std::int64_t>{0, 9, 4, 4, 1, 7}));
  const auto engine = load(saved(lookup()), specs_of(data));
  bind(*engine, data);
  EXPECT_LE(relative_error(run(*engine), lookup_output(data[1], 0.5F)), 1e-6);
  EXPECT_EQ(engine->synchronize(0)[0].shape, (Shape{2, 3, 4}));
}

TEST_F(ModelFiles, OutputsStayWhereTheyAre) {
  auto data = images(2);
  const auto engine = load(saved(convolution()), specs_of(data));
  bind(*engine, data);
  const auto first = run(*engine);
  const void* at = engine->synchronize(0)[0].data;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(run(*engine), first);
  EXPECT_EQ(engine->synchronize(0)[0].data, at);
}

TEST_F(ModelFiles, OtherDataAfterAnotherBind) {
  auto data = images(2);
  const auto engine = load(saved(convolution()), specs_of(data));
  bind(*engine, data);
  run(*engine);
  auto other = images(2);
  for (int i = 0; i < 20; ++i) other[0].as<float>()[i] = 1;
  bind(*engine, other);
  EXPECT_LE(relative_error(run(*engine), convolution_output(other[0])), 1e-5);
}

// Outputs that no operator makes: an input, a copy of it, weights. What a reader of an output does with its
// memory must not show in later answers.
TEST_F(ModelFiles, OutputsThatAreInputsOrWeights) {
  auto file = convolution();
  const auto weights = values(element_count(kConvolutionWeights), 1);
  file.node("Identity", {"x"}, {"copy"});
  file.output("x", DType::kFloat32, {-1, 3, 8, 8});
  file.output("copy", DType::kFloat32, {-1, 3, 8, 8});
  file.output("w", DType::kFloat32, kConvolutionWeights);
  auto data = images(2);
  const auto engine = load(saved(std::move(file)), specs_of(data));
  for (const float first : {1.0F, 2.0F, 3.0F}) {
    for (int i = 0; i < 20; ++i) data[0].as<float>()[i] = first;
    const std::vector<float> x(data[0].as<float>(),
                               data[0].as<float>() + element_count(data[0].spec().shape));
    bind(*engine, data);
    EXPECT_LE(relative_error(run(*engine, 0), convolution_output(data[0])), 1e-5);
    EXPECT_EQ(run(*engine, 1), x);
    EXPECT_EQ(run(*engine, 2), x);
    EXPECT_EQ(run(*engine, 3), weights);
    for (const auto& output : engine->synchronize(0))
      if (output.data != data[0].data()) std::fill_n(static_cast<float*>(output.data), 16, -7.0F);
  }
}

// As the results of loops and sequences are declared, which looks like a scalar.
TEST_F(ModelFiles, OutputsOfUnknownRank) {
  OnnxFile file;
  file.input("x", DType::kFloat32, {-1, 4});
  file.weights("one", {}, std::vector<std::int64_t>{1});
  file.node("Relu", {"x"}, {"r"});
  file.node("SequenceConstruct", {"x", "r"}, {"s"});
  file.node("SequenceAt", {"s", "one"}, {"y"});
  file.output("y", DType::kFloat32, {});
  file.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  const auto path = saved(std::move(file));
  for (const std::int64_t batch : {1, 3}) {
    std::vector<Tensor> data;
    data.push_back(tensor("x", {batch, 4}, std::vector<float>(static_cast<std::size_t>(4 * batch), 2)));
    const auto engine = load(path, specs_of(data));
    for (int i = 0; i < 2; ++i) {
      bind(*engine, data);
      EXPECT_EQ(run(*engine), std::vector<float>(static_cast<std::size_t>(4 * batch), 2));
    }
    EXPECT_EQ(engine->synchronize(0)[0].shape, (Shape{batch, 4}));
  }
}

TEST_F(ModelFiles, SmallerBatchesWhereTheyAreAskedFor) {
  const auto file = saved(convolution());
  auto full = images(4);
  plugin::ModelSpec model;
  model.file = file;
  model.inputs = specs_of(full);
  model.any_batch = true;
  const auto engine = make_engine();
  engine->load(model, {});
  for (const std::int64_t batch : {4, 1, 3, 4}) {
    auto data = images(batch);
    bind(*engine, data);
    EXPECT_LE(relative_error(run(*engine), convolution_output(data[0])), 1e-5);
    EXPECT_EQ(engine->synchronize(0)[0].shape, (Shape{batch, 4, 6, 6}));
  }
  auto larger = images(5), smaller = images(1);
  EXPECT_EQ(error_of([&] { bind(*engine, larger); }).first, ErrorCode::kUsage);
  const auto fixed = load(file, specs_of(full));
  EXPECT_EQ(error_of([&] { bind(*fixed, smaller); }).first, ErrorCode::kUsage);
}

TEST_F(ModelFiles, SmallerShapesWhereTheyAreAskedFor) {
  OnnxFile file;
  file.input("x", DType::kFloat32, {-1, -2});
  file.node("Relu", {"x"}, {"y"});
  file.output("y", DType::kFloat32, {-1, -2});
  plugin::ModelSpec model;
  model.file = saved(std::move(file));
  model.inputs = {{"x", DType::kFloat32, {2, 8}}};
  model.any_batch = model.any_shape = true;
  const auto engine = make_engine();
  engine->load(model, {});
  for (const Shape& shape : {Shape{2, 8}, Shape{1, 8}, Shape{2, 3}, Shape{1, 5}}) {
    std::vector<Tensor> data;
    data.push_back(tensor("x", shape, std::vector<float>(static_cast<std::size_t>(element_count(shape)), 2)));
    bind(*engine, data);
    EXPECT_EQ(run(*engine).size(), data[0].size_bytes() / sizeof(float));
    EXPECT_EQ(engine->synchronize(0)[0].shape, shape);
  }
  std::vector<Tensor> larger;
  larger.push_back(tensor("x", {2, 9}, std::vector<float>(18, 2)));
  EXPECT_EQ(error_of([&] { bind(*engine, larger); }).first, ErrorCode::kUsage);
}

TEST_F(ModelFiles, SlotsAreIndependent) {
  auto a = images(1), b = images(1);
  b[0].as<float>()[0] = 100;
  const auto engine = load(saved(convolution()), specs_of(a));
  bind(*engine, a, 0);
  bind(*engine, b, 1);
  const auto of_a = run(*engine, 0, 0);
  EXPECT_LE(relative_error(run(*engine, 0, 1), convolution_output(b[0])), 1e-5);
  const auto* still = static_cast<const float*>(engine->synchronize(0)[0].data);
  EXPECT_EQ(std::vector<float>(still, still + of_a.size()), of_a);
}

TEST_F(ModelFiles, ShapesThatDependOnTheData) {
  std::vector<Tensor> data;
  data.push_back(tensor("x", {4}, std::vector<float>{0, 2, 0, 1}));
  const auto engine = load(saved(places()), specs_of(data));
  bind(*engine, data);
  EXPECT_EQ(run(*engine, 0), (std::vector<float>{1, 3}));
  EXPECT_EQ(run(*engine, 1), (std::vector<float>{0, 4, 0, 2}));
  EXPECT_EQ(run(*engine, 0), (std::vector<float>{1, 3}));
  data[0].as<float>()[0] = 5;
  bind(*engine, data);
  EXPECT_EQ(run(*engine, 0), (std::vector<float>{0, 1, 3}));
}

TEST_F(ModelFiles, ReadBackTellsPrecisionAndWork) {
  auto data = images(2);
  const auto engine = load(saved(convolution()), specs_of(data));
  bind(*engine, data);
  const auto before = run(*engine);
  const auto read = engine->read_back(0);
  ASSERT_EQ(read.precisions.size(), 1U);
  EXPECT_EQ(read.precisions[0].precision, "fp32");
  EXPECT_EQ(read.precisions[0].operators, 1);
  EXPECT_DOUBLE_EQ(read.precisions[0].flops_share, 1);
  EXPECT_EQ(read.flops, 2.0 * 2 * 4 * 36 * 27);
  const auto layer = std::find_if(read.layers.begin(), read.layers.end(),
                                  [](const plugin::Layer& l) { return l.flops.has_value(); });
  ASSERT_NE(layer, read.layers.end());
  EXPECT_THAT(layer->type, HasSubstr("Conv"));
  EXPECT_GE(*layer->flops, *read.flops);  // an engine may fill its channels up to whole blocks
  EXPECT_EQ(run(*engine), before);
}

TEST_F(ModelFiles, MatrixProductsCountTheirInnerDimension) {
  std::vector<Tensor> data;
  data.push_back(tensor("x", {3, 16}, values(48, 5)));
  const auto engine = load(saved(linear()), specs_of(data));
  bind(*engine, data);
  EXPECT_EQ(engine->read_back(0).flops, 2.0 * 3 * 8 * 16);
}

TEST_F(ModelFiles, GroupsAndAttentionCountWhatTheyCompute) {
  const auto flops_of = [&](OnnxFile file, std::vector<Tensor> data) {
    const auto engine = load(saved(std::move(file)), specs_of(data));
    bind(*engine, data);
    return engine->read_back(0);
  };
  std::vector<Tensor> image, sequence;
  image.push_back(tensor("x", {1, 8, 6, 6}, values(288, 5)));
  EXPECT_EQ(flops_of(grouped(), std::move(image)).flops, 2.0 * 8 * 36 * (4 * 9));
  sequence.push_back(tensor("x", {2, 4, 5, 16}, values(640, 5)));
  const auto read = flops_of(attention(), std::move(sequence));
  EXPECT_EQ(read.flops, 2 * 2.0 * 2 * 4 * 5 * 5 * 16);
  ASSERT_EQ(read.precisions.size(), 1U);
  EXPECT_EQ(read.precisions[0].operators, 2);
}

TEST_F(ModelFiles, QuantisedConvolutionsRunAsIntegers) {
  auto data = images(1);
  const auto engine = load(saved(quantised_convolution()), specs_of(data), {"int8"});
  bind(*engine, data);
  const auto read = engine->read_back(0);
  ASSERT_EQ(read.precisions.size(), 1U);
  EXPECT_EQ(read.precisions[0].precision, "int8");
  EXPECT_EQ(read.flops, 2.0 * 4 * 36 * 27);
}

// Whatever the engine fused and renamed.
TEST_F(ModelFiles, LayersAreTimedUnderTheModelsNames) {
  auto file = convolution();
  file.graph().mutable_node(0)->set_name("block.conv/Conv");
  file.graph().mutable_node(1)->set_name("block.act/Relu");
  auto data = images(2);
  const auto engine = load(saved(std::move(file)), specs_of(data));
  bind(*engine, data);
  const auto before = run(*engine);
  const auto times = engine->profile(0, 3);
  const auto layer = std::find_if(times.layers.begin(), times.layers.end(), [](const plugin::Layer& l) {
    return l.type.find("Conv") != std::string::npos;
  });
  ASSERT_NE(layer, times.layers.end());
  EXPECT_THAT(layer->model_layer, HasSubstr("block."));
  EXPECT_EQ(layer->precision, "fp32");
  ASSERT_TRUE(layer->time_ns);
  EXPECT_GE(*layer->time_ns, 0);
  EXPECT_FALSE(times.source.empty());
  EXPECT_EQ(run(*engine), before);
}

TEST_F(ModelFiles, WithoutConvolutionsOrProductsThereIsNoShare) {
  std::vector<Tensor> data;
  data.push_back(tensor("x", {4}, std::vector<float>{0, 2, 0, 1}));
  const auto engine = load(saved(places()), specs_of(data));
  bind(*engine, data);
  const auto read = engine->read_back(0);
  EXPECT_TRUE(read.precisions.empty());
  EXPECT_FALSE(read.flops);
  EXPECT_FALSE(read.layers.empty());
}

TEST_F(ModelFiles, ReadBackLeavesNoFilesBehind) {
  auto data = images(1);
  const auto engine = load(saved(convolution()), specs_of(data));
  bind(*engine, data);
  const TemporaryFolder empty;
  ::setenv("TMPDIR", empty.path().c_str(), 1);
  EXPECT_FALSE(engine->read_back(0).layers.empty());
  ::unsetenv("TMPDIR");
  EXPECT_TRUE(std::filesystem::is_empty(empty.path()));
}

TEST_F(ModelFiles, ThreadsAreThoseAskedFor) {
  auto data = images(1);
  const auto file = saved(convolution());
  for (const int threads : {1, 2}) {
    const auto engine = load(file, specs_of(data), {"fp32", threads});
    EXPECT_EQ(setting(*engine, "threads"), std::to_string(threads));
  }
}

TEST_F(ModelFiles, InputsThatAreNotTheModels) {
  const auto file = saved(lookup());
  const TensorSpec ids{"ids", DType::kInt64, {2, 3}}, scale{"scale", DType::kFloat32, {1}};
  const auto message = [&](const std::vector<TensorSpec>& inputs) {
    const auto [code, text] = load_failure(file, inputs);
    EXPECT_EQ(code, ErrorCode::kUsage) << text;
    return text;
  };
  EXPECT_THAT(message({ids, {"size", DType::kFloat32, {1}}}),
              AllOf(HasSubstr("no input 'size'"), HasSubstr("'scale' float32 [1]")));
  EXPECT_THAT(message({ids, {"scale", DType::kFloat64, {1}}}),
              AllOf(HasSubstr("expects input 'scale' float32 [1]"), HasSubstr("given 'scale' float64 [1]")));
  EXPECT_THAT(message({ids, {"scale", DType::kFloat32, {2}}}),
              AllOf(HasSubstr("expects input 'scale' float32 [1]"), HasSubstr("given 'scale' float32 [2]")));
  EXPECT_THAT(message({{"ids", DType::kInt64, {2, 3, 1}}, scale}), HasSubstr("given 'ids' int64 [2,3,1]"));
  EXPECT_THAT(message({ids}), HasSubstr("also expects input 'scale' float32 [1]"));
}

TEST_F(ModelFiles, TensorsThatAreNotAsLoaded) {
  auto data = images(2);
  const auto engine = load(saved(convolution()), specs_of(data));
  auto other = images(3);
  const auto [code, text] = error_of([&] { bind(*engine, other); });
  EXPECT_EQ(code, ErrorCode::kUsage);
  EXPECT_EQ(text, "input 'x' float32 [3,3,8,8] was given, the model was loaded for 'x' float32 [2,3,8,8]");
}

TEST_F(ModelFiles, BuiltInModelsHaveNoFile) {
  plugin::ModelSpec model;
  model.name = "resnet50";
  const auto [code, text] = error_of([&] { make_engine()->load(model, {}); });
  EXPECT_EQ(code, ErrorCode::kUnsupported);
  EXPECT_THAT(text, AllOf(HasSubstr("reads model files (.onnx"), HasSubstr("resnet50")));
}

TEST_F(ModelFiles, FilesThatAreNotWhatTheyShouldBe) {
  const auto whole = saved(convolution());
  std::ifstream in(whole, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  const auto specs = specs_of(images(1));
  const std::string files[] = {folder_.file("absent.onnx"), written("empty.onnx", ""),
                               written("text.onnx", "this is no model\n"),
                               written("cut.onnx", bytes.substr(0, bytes.size() / 2))};
  for (const auto& file : files) {
    const auto [code, text] = load_failure(file, specs);
    EXPECT_TRUE(code == ErrorCode::kData || code == ErrorCode::kUnsupported) << file << ": " << text;
    EXPECT_THAT(text, HasSubstr(file));
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_EQ(text.find("/src/"), std::string::npos) << text;
  }
}

TEST_F(ModelFiles, OperatorsThatNobodyHas) {
  auto file = convolution();
  file.graph().mutable_node(1)->set_op_type("Discombobulate");
  const auto [code, text] = load_failure(saved(std::move(file)), specs_of(images(1)));
  EXPECT_TRUE(code == ErrorCode::kData || code == ErrorCode::kUnsupported) << text;
  EXPECT_THAT(text, HasSubstr("Discombobulate"));
}

TEST_F(ModelFiles, ExternalDataThatIsMissing) {
  auto file = convolution();
  auto& weights = *file.graph().mutable_initializer(0);
  weights.clear_raw_data();
  weights.clear_float_data();
  weights.set_data_location(onnx::proto::TensorProto::EXTERNAL);
  auto& entry = *weights.add_external_data();
  entry.set_key("location");
  entry.set_value("gone.data");
  const auto path = written("m.onnx", file.model.SerializeAsString());
  const auto [code, text] = load_failure(path, specs_of(images(1)));
  EXPECT_EQ(code, ErrorCode::kData) << text;
  EXPECT_THAT(text, HasSubstr("gone.data"));
}

TEST_F(ModelFiles, SettingsThatItDoesNotHave) {
  const auto file = saved(convolution());
  const auto specs = specs_of(images(1));
  const auto [precision, why] = load_failure(file, specs, {"amp_bf16"});
  EXPECT_EQ(precision, ErrorCode::kUnsupported);
  EXPECT_THAT(why, AllOf(HasSubstr("amp_bf16"), HasSubstr("fp32")));
  const auto [option, message] = load_failure(file, specs, {"fp32", 1, {{"colour", "red"}}});
  EXPECT_EQ(option, ErrorCode::kUsage);
  EXPECT_THAT(message, HasSubstr("no option 'colour'; there are: "));
}

TEST_F(ModelFiles, CallsInTheWrongOrder) {
  const auto engine = make_engine();
  auto data = images(1);
  EXPECT_EQ(error_of([&] { bind(*engine, data); }).first, ErrorCode::kInternal);
  const auto loaded = load(saved(convolution()), specs_of(data));
  EXPECT_EQ(error_of([&] { loaded->enqueue(0); }).first, ErrorCode::kInternal);
}

}  // namespace
}  // namespace paceline::model_files_test
