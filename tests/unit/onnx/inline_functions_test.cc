// SPDX-License-Identifier: MIT
#include "onnx/inline_functions.h"

#include <gtest/gtest.h>

#include "model_builder.h"

namespace paceline::onnx {
namespace {

// Functions under construction, in the domain pkg.
struct FunctionBuilder {
  FunctionBuilder(ModelBuilder& b, const std::string& name, const Names& inputs, const Names& outputs)
      : proto(*b.model().add_functions()) {
    proto.set_name(name);
    proto.set_domain("pkg");
    proto.add_opset_import()->set_version(17);
    for (const auto& input : inputs) proto.add_input(input);
    for (const auto& output : outputs) proto.add_output(output);
  }
  proto::NodeProto& node(const std::string& op, const Names& inputs, const std::string& output) {
    proto::GraphProto scratch;
    return *proto.add_node() = add_node(scratch, op, "", inputs, Names{output});
  }
  proto::FunctionProto& proto;
};

void call(ModelBuilder& b, const std::string& function, const Names& inputs, const std::string& output) {
  b.node(function, inputs, output);
  b.last().set_domain("pkg");
}

TEST(InlineFunctions, EachCallHasItsOwnNodesAndValues) {
  ModelBuilder b;
  b.input("x", {-1, 2, 4, 4}).output("y").weights("v", {2, 2, 1, 1}).weights("w", {2, 2, 1, 1});
  FunctionBuilder f(b, "block", {"a", "ww"}, {"o"});
  f.node("Conv", {"a", "ww"}, "c");
  f.node("Relu", {"c"}, "o");
  call(b, "block", {"x", "v"}, "h");
  call(b, "block", {"h", "w"}, "y");
  EXPECT_EQ(inline_functions(b.model()), 2);
  EXPECT_EQ(count_op(b.model(), "Conv"), 2);
  EXPECT_EQ(find_node(b.model(), "y")->input(0), "y/c");
  EXPECT_EQ(find_node(b.model(), "y/c")->input(0), "h");
  EXPECT_EQ(find_node(b.model(), "y/c")->input(1), "w");
  EXPECT_EQ(b.model().functions_size(), 0);
}

TEST(InlineFunctions, FunctionsCallFunctions) {
  ModelBuilder b;
  b.input("x", {2}).output("y");
  FunctionBuilder inner(b, "inner", {"a"}, {"o"});
  inner.node("Neg", {"a"}, "o");
  FunctionBuilder outer(b, "outer", {"a"}, {"o"});
  outer.node("inner", {"a"}, "m").set_domain("pkg");
  outer.node("inner", {"m"}, "o").set_domain("pkg");
  call(b, "outer", {"x"}, "y");
  EXPECT_EQ(inline_functions(b.model()), 3);
  EXPECT_EQ(find_node(b.model(), "y")->input(0), "y/m");
  EXPECT_EQ(find_node(b.model(), "y/m")->input(0), "x");
}

TEST(InlineFunctions, AttributesOfTheCallReachTheNodes) {
  ModelBuilder b;
  b.input("x", {2, 2}).output("y");
  FunctionBuilder f(b, "soft", {"a"}, {"o"});
  f.proto.add_attribute("along");
  auto& axis = *f.node("Softmax", {"a"}, "s").add_attribute();
  axis.set_name("axis");
  axis.set_ref_attr_name("along");
  auto& absent = *f.node("Elu", {"s"}, "o").add_attribute();
  absent.set_name("alpha");
  absent.set_ref_attr_name("nobody_gives_it");
  call(b, "soft", {"x"}, "y");
  set_attribute(b.last(), "along", std::int64_t{0});
  inline_functions(b.model());
  EXPECT_EQ(int_attribute(*find_node(b.model(), "y/s"), "axis", -1), 0);
  EXPECT_EQ(find_node(b.model(), "y")->attribute_size(), 0) << "the operator's default";
}

TEST(InlineFunctions, AnOutputThatIsAnInputIsACopy) {
  ModelBuilder b;
  b.input("x", {2}).output("y");
  FunctionBuilder f(b, "same", {"a"}, {"a"});
  call(b, "same", {"x"}, "y");
  inline_functions(b.model());
  EXPECT_EQ(find_node(b.model(), "y")->op_type(), "Identity");
  EXPECT_EQ(find_node(b.model(), "y")->input(0), "x");
}

TEST(InlineFunctions, GraphsInAFunctionReadItsValues) {
  ModelBuilder b;
  b.input("x", {2}).input("go", {}, DType::kBool).output("y");
  FunctionBuilder f(b, "choose", {"a", "which"}, {"o"});
  f.node("Neg", {"a"}, "n");
  auto& branch = *f.node("If", {"which"}, "o").add_attribute();
  branch.set_name("then_branch");
  branch.set_type(proto::AttributeProto::GRAPH);
  add_node(*branch.mutable_g(), "Add", "sum", Names{"n", "a"}, Names{"sum"});
  branch.mutable_g()->add_output()->set_name("sum");
  call(b, "choose", {"x", "go"}, "y");
  inline_functions(b.model());
  const auto& inner = find_attribute(*find_node(b.model(), "y"), "then_branch")->g();
  EXPECT_EQ(inner.node(0).input(0), "y/n");
  EXPECT_EQ(inner.node(0).input(1), "x");
  EXPECT_EQ(inner.output(0).name(), "y/sum");
}

TEST(InlineFunctions, AFunctionOfAnotherSetStays) {
  ModelBuilder b;
  b.input("x", {2}).output("y");
  FunctionBuilder f(b, "old", {"a"}, {"o"});
  f.node("Neg", {"a"}, "o");
  f.proto.mutable_opset_import(0)->set_version(11);
  call(b, "old", {"x"}, "y");
  EXPECT_EQ(inline_functions(b.model()), 0);
  EXPECT_EQ(find_node(b.model(), "y")->op_type(), "old");
  EXPECT_EQ(b.model().functions_size(), 1);
}

TEST(InlineFunctions, AFunctionThatCallsItselfEnds) {
  ModelBuilder b;
  b.input("x", {2}).output("y");
  FunctionBuilder f(b, "loop", {"a"}, {"o"});
  f.node("loop", {"a"}, "o").set_domain("pkg");
  call(b, "loop", {"x"}, "y");
  inline_functions(b.model());
  EXPECT_EQ(find_node(b.model(), "y")->op_type(), "loop");
}

}  // namespace
}  // namespace paceline::onnx
