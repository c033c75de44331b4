// SPDX-License-Identifier: MIT
#include "onnx/declared_inputs.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "onnx/graph.h"
#include "onnx/model_file.h"
#include "support/words.h"

namespace paceline::onnx {
namespace {

using test::reason;

namespace fs = std::filesystem;

class DeclaredInputs : public testing::Test {
 protected:
  void TearDown() override { fs::remove(file_); }
  std::vector<DeclaredInput> written(proto::ModelProto& model) {
    write_model(model, file_);
    return read_declared_inputs(file_.string());
  }
  static void add_dimension(proto::ValueInfoProto& value, std::int64_t size, const std::string& symbol = "") {
    auto& dimension = *value.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
    if (size >= 0) dimension.set_dim_value(size);
    if (!symbol.empty()) dimension.set_dim_param(symbol);
  }
  // One a test: several may run at the same time.
  fs::path file_ = fs::path(testing::TempDir()) /
                   (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".onnx");
};

TEST_F(DeclaredInputs, HaveNamesTypesSizesAndSymbols) {
  proto::ModelProto model;
  auto& ids = *model.mutable_graph()->add_input();
  ids.set_name("ids:0");
  ids.mutable_type()->mutable_tensor_type()->set_elem_type(proto::TensorProto::INT64);
  add_dimension(ids, -1, "batch");
  add_dimension(ids, 128);
  add_dimension(ids, -1);
  add_dimension(ids, 0);  // as some exporters write what they do not know
  auto& step = *model.mutable_graph()->add_input();
  step.set_name("step");
  step.mutable_type()->mutable_tensor_type()->set_elem_type(proto::TensorProto::FLOAT);
  step.mutable_type()->mutable_tensor_type()->mutable_shape();
  const auto inputs = written(model);
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].name, "ids:0");
  EXPECT_EQ(inputs[0].dtype, DType::kInt64);
  EXPECT_EQ(inputs[0].shape, (Shape{-1, 128, -1, -1}));
  EXPECT_EQ(inputs[0].symbols, (std::vector<std::string>{"batch", "", "", "0"}));
  EXPECT_EQ(inputs[1].shape, Shape{});
}

TEST_F(DeclaredInputs, SymbolsHaveTheSizesOfTheInputs) {
  proto::ModelProto model;
  for (const auto* name : {"a", "b"}) {
    auto& input = *model.mutable_graph()->add_input();
    input.set_name(name);
    input.mutable_type()->mutable_tensor_type()->set_elem_type(proto::TensorProto::FLOAT);
    add_dimension(input, -1, "batch");
    add_dimension(input, -1, "?");
    add_dimension(input, 5);
  }
  write_model(model, file_);
  const std::vector<TensorSpec> given{{"a", DType::kFloat32, {2, 3, 5}}, {"b", DType::kFloat32, {2, 4, 5}}};
  using Sizes = std::map<std::string, std::int64_t>;
  EXPECT_EQ(symbol_sizes(file_.string(), given), (Sizes{{"batch", 2}}));  // "?" has two sizes
  EXPECT_EQ(symbol_sizes(file_.string(), given, /*free_batch=*/true), Sizes());
  EXPECT_EQ(symbol_sizes(file_.string(), {given.data(), 1}), (Sizes{{"batch", 2}, {"?", 3}}));
}

TEST_F(DeclaredInputs, TheFirstOutputHasItsShape) {
  proto::ModelProto model;
  add_dimension(*model.mutable_graph()->add_output(), -1, "batch");
  add_dimension(*model.mutable_graph()->mutable_output(0), 10);
  add_dimension(*model.mutable_graph()->add_output(), 7);
  write_model(model, file_);
  EXPECT_EQ(read_first_output_shape(file_.string()), (Shape{-1, 10}));
  EXPECT_FALSE(read_first_output_shape("no/such/file.onnx"));
}

TEST_F(DeclaredInputs, LeaveInitializersOut) {
  proto::ModelProto model;
  *model.mutable_graph()->add_initializer() = make_tensor("w", Shape{2}, std::vector<float>{1, 2});
  for (const char* name : {"w", "x"}) {
    auto& value = *model.mutable_graph()->add_input();
    value.set_name(name);
    value.mutable_type()->mutable_tensor_type()->set_elem_type(proto::TensorProto::FLOAT);
  }
  const auto inputs = written(model);
  ASSERT_EQ(inputs.size(), 1U);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_FALSE(inputs[0].shape);  // its rank is not said
}

TEST_F(DeclaredInputs, OtherFilesDeclareNoInputs) {
  EXPECT_TRUE(read_declared_inputs("no/such/file.onnx").empty());
  for (const char* text : {"not a model", "\x3a\x04\x5a\x7fxx"}) {
    write_file_atomic(file_, text);
    EXPECT_TRUE(read_declared_inputs(file_.string()).empty());
    EXPECT_NE(reason([&] { require_graph(file_.string()); }).find("cannot be read as ONNX"),
              std::string::npos);
  }
}

TEST_F(DeclaredInputs, NamesTruncatedFiles) {
  const auto said = [&](const char* text) {
    write_file_atomic(file_, text);
    return reason([&] { read_declared_inputs(file_.string()); });
  };
  EXPECT_NE(said("").find("is empty"), std::string::npos);
  EXPECT_NE(said("\x08\x08\x3a\x7f\x0a").find("is cut short: at least 126 B are missing"), std::string::npos);
  EXPECT_NE(said("version https://git-lfs.github.com/spec/v1\noid").find("git lfs pull"), std::string::npos);
}

TEST_F(DeclaredInputs, OnlyTensorsAreTaken) {
  proto::ModelProto model;
  auto& value = *model.mutable_graph()->add_input();
  value.set_name("parts");
  value.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type();
  write_model(model, file_);
  const auto said = reason([&] { read_declared_inputs(file_.string()); });
  EXPECT_NE(said.find("input 'parts' is a sequence of tensors, which is not supported"), std::string::npos);
  EXPECT_EQ(said, reason([&] { graph_inputs(model.graph()); }));
}

TEST_F(DeclaredInputs, ProductsInFunctionsCount) {
  proto::ModelProto model;
  model.mutable_graph()->add_node()->set_op_type("block");
  write_model(model, file_);
  EXPECT_FALSE(has_products(file_.string()));
  model.add_functions()->add_node()->set_op_type("Conv");
  write_model(model, file_);
  EXPECT_TRUE(has_products(file_.string()));
}

}  // namespace
}  // namespace paceline::onnx
