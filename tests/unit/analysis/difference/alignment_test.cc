// SPDX-License-Identifier: MIT
#include "analysis/difference/alignment.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "synthetic_net.h"

namespace paceline::analysis::difference {
namespace {

std::vector<Aligned> aligned(const Net& a, const Net& b) {
  return align_ordered(keys_of(measured(a, 1, 0), measured(b, 1, 1)));
}

// "a0=b0 a1= =b1": pairs, vanished and new parts by index.
std::string words_of(const std::vector<Aligned>& rows) {
  std::string words;
  for (const auto& row : rows)
    words += fmt::format("{}{}={}", words.empty() ? "" : " ", fmt::join(row.a, "+"), fmt::join(row.b, "+"));
  return words;
}

NetLayer layer(const std::string& type, const std::string& name, double ns = 1000,
               const std::string& model = {}) {
  return {{type, name, model}, ns};
}

TEST(PartNames, TypesOfEnginesAndPrecisionsAgree) {
  EXPECT_EQ(type_family("com.microsoft.QLinearConv"), "conv");
  EXPECT_EQ(type_family("FusedConv"), "conv");
  EXPECT_EQ(type_family("aten::conv2d"), "conv");
  EXPECT_EQ(type_family("Convolution"), "conv");
  EXPECT_EQ(type_family("MatMulInteger"), "matmul");
  EXPECT_EQ(type_family("Gemm"), "matmul");
  EXPECT_NE(type_family("Relu"), type_family("Conv"));
}

TEST(PartNames, NormalNamesDropScopesAndSeparators) {
  EXPECT_EQ(normal_name("model.layer1.0/Conv"), "layer1.0.conv");
  EXPECT_EQ(normal_name("/layer1/0/conv"), normal_name("layer1.0.conv"));
  EXPECT_EQ(normal_name("..."), "");
}

TEST(PartNames, NumberedTypesArePositional) {
  EXPECT_TRUE(is_positional("conv2d_3", "aten::conv2d"));
  EXPECT_TRUE(is_positional("Conv_12", "Conv"));
  EXPECT_TRUE(is_positional("aten::conv2d", "aten::conv2d"));
  EXPECT_TRUE(is_positional("ReorderOutput_token_180", "ReorderOutput"));
  EXPECT_FALSE(is_positional("layer1.0.conv1", "Conv"));
  EXPECT_FALSE(is_positional("stem", "Conv"));
}

TEST(PartNames, CombinedNamesAreTakenApart) {
  EXPECT_EQ(combined_names("Conv_0 + Relu_0").size(), 2U);
  EXPECT_EQ(combined_names("conv1+bn1+relu").size(), 3U);
  EXPECT_EQ(combined_names("conv1").size(), 1U);
  EXPECT_TRUE(combined_names("").empty());
}

TEST(Alignment, EqualListsPairInOrder) {
  const Net net{layer("Conv", "a"), layer("Relu", "b"), layer("Conv", "c")};
  EXPECT_EQ(words_of(aligned(net, net)), "0=0 1=1 2=2");
}

TEST(Alignment, AnotherTypeIsNotTheSameWork) {
  const Net a{layer("Conv", "a"), layer("Relu", "b")}, b{layer("Conv", "a"), layer("Softmax", "c")};
  const auto words = words_of(aligned(a, b));
  EXPECT_NE(words.find("1="), std::string::npos) << words;
  EXPECT_EQ(words.find("1=1"), std::string::npos) << words;
}

TEST(Alignment, ALayerInFrontShiftsNothing) {
  const Net a{layer("Conv", "x"), layer("Conv", "y")};
  const Net b{layer("Conv", "w"), layer("Conv", "x"), layer("Conv", "y")};
  EXPECT_EQ(words_of(aligned(a, b)), "=0 0=1 1=2");
}

TEST(Alignment, EqualNamesPairInOrder) {
  Net a, b;
  for (int i = 0; i < 53; ++i) a.push_back(layer("aten::conv2d", "aten::conv2d", 1000.0 * (1 + i % 7)));
  b = a;
  b.insert(b.begin() + 20, layer("aten::conv2d", "aten::conv2d", 9000));
  const auto rows = aligned(a, b);
  ASSERT_EQ(rows.size(), 54U);
  EXPECT_TRUE(rows[20].a.empty());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 20) continue;
    EXPECT_EQ(rows[i].b.at(0), rows[i].a.at(0) + (i > 20 ? 1 : 0));
  }
}

// Labels like "3rd GEMM of the cycle" (TraceLens #951) give other numbers to the layers after a duplicated
// block.
TEST(Alignment, ADuplicatedBlockShiftsNoNumberedLabels) {
  Net a;
  for (int k = 0; k < 12; ++k)
    for (const auto* type : {"gemm", "softmax", "gemm"})
      a.push_back(layer(type, "", 1000.0 + 700 * (k * 5 % 12)));
  Net b = a;
  b.insert(b.begin() + 15, a.begin() + 12, a.begin() + 15);  // block 4 again
  number_layers(a);
  number_layers(b);
  for (const auto& row : aligned(a, b)) {
    if (row.a.empty()) {
      EXPECT_GE(row.b.at(0), 12U);
      EXPECT_LT(row.b.at(0), 18U);
      continue;
    }
    ASSERT_EQ(row.b.size(), 1U);
    EXPECT_EQ(row.b[0], row.a[0] + (row.a[0] >= 15 ? 3 : row.b[0] - row.a[0]));
    EXPECT_EQ(a[row.a[0]].ns, b[row.b[0]].ns);
  }
}

TEST(Alignment, AFusedPartStandsForItsRun) {
  const Net a{layer("Conv", "Conv_0"), layer("Relu", "Relu_0"), layer("Conv", "Conv_1")};
  const Net b{layer("Conv", "Conv_0 + Relu_0", 1100), layer("Conv", "Conv_1")};
  EXPECT_EQ(words_of(aligned(a, b)), "0+1=0 2=1");
  EXPECT_EQ(words_of(aligned(b, a)), "0=0+1 1=2");
}

TEST(Alignment, FusedNamesMayNameTypesOnly) {
  const Net a{layer("Conv", "conv1"), layer("BatchNormalization", "bn1"), layer("Relu", "relu_7")};
  const Net b{layer("Conv", "conv1+bn1+relu", 1100)};
  EXPECT_EQ(words_of(aligned(a, b)), "0+1+2=0");
}

TEST(Alignment, OneModelLayerMayBeSeveralParts) {
  const Net a{layer("Conv", "k1", 1000, "stem"), layer("Relu", "k2", 100, "stem"),
              layer("Conv", "k3", 900, "head")};
  const Net b{layer("Conv", "j1", 1050, "stem"), layer("Conv", "j2", 900, "head")};
  EXPECT_EQ(words_of(aligned(a, b)), "0+1=0 2=1");
}

TEST(Alignment, AFusedTypeTakesActivationsThatAreGone) {
  const Net a{layer("Conv", "c1"), layer("Relu", "r1"), layer("Conv", "c2"), layer("Relu", "r2")};
  const Net b{layer("FusedConv", "c1", 1050), layer("Conv", "c2"), layer("Relu", "r2")};
  EXPECT_EQ(words_of(aligned(a, b)), "0+1=0 2=1 3=2");
}

TEST(Alignment, ARenamedLayerStays) {
  const Net a{layer("Conv", "x"), layer("Conv", "old"), layer("Conv", "z")};
  const Net b{layer("Conv", "x"), layer("Conv", "fresh"), layer("Conv", "z")};
  EXPECT_EQ(words_of(aligned(a, b)), "0=0 1=1 2=2");
}

TEST(Alignment, AMovedLayerIsFoundByName) {
  const Net a{layer("Pool", "p"), layer("Conv", "x"), layer("Relu", "y"), layer("Softmax", "z")};
  const Net b{layer("Conv", "x"), layer("Relu", "y"), layer("Softmax", "z"), layer("Pool", "p")};
  EXPECT_EQ(words_of(aligned(a, b)), "0=3 1=0 2=1 3=2");
}

TEST(Alignment, PartsWithoutOrderPairByName) {
  const Net a{layer("operator", "aten::mm"), layer("operator", "aten::add")};
  const Net b{layer("operator", "aten::add"), layer("operator", "ATen.mm"), layer("operator", "aten::mul")};
  const auto rows = align_by_name(keys_of(measured(a, 1, 0), measured(b, 1, 1)));
  EXPECT_EQ(words_of(rows), "0=1 1=0 =2");
}

TEST(Alignment, EmptySidesAreAlone) {
  const Net net{layer("Conv", "x")};
  EXPECT_EQ(words_of(aligned({}, net)), "=0");
  EXPECT_EQ(words_of(aligned(net, {})), "0=");
  EXPECT_TRUE(aligned({}, {}).empty());
}

Net long_net(std::size_t layers) {
  Net net;
  for (std::size_t i = 0; i < layers; ++i)
    net.push_back(
        layer(i % 3 == 0 ? "Conv" : "Relu", fmt::format("layer{}", i), 1000.0 + static_cast<double>(i % 97)));
  return net;
}

TEST(Alignment, LongListsAlignAsShortOnes) {
  const auto a = long_net(3000);
  auto b = a;
  b.insert(b.begin() + 1000, layer("Conv", "fresh"));
  const auto keys = keys_of(measured(a, 1, 0), measured(b, 1, 1));
  const auto begin = std::chrono::steady_clock::now();
  const auto rows = align_ordered(keys);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("3000 layers aligned in %.3f s\n", took.count());
  ASSERT_EQ(rows.size(), 3001U);
  EXPECT_TRUE(rows[1000].a.empty());
}

// Beyond the bound only pairs near the diagonal count, which a few insertions do not leave.
TEST(Alignment, VeryLongListsUseABand) {
  const auto a = long_net(20'000);
  auto b = a;
  b.insert(b.begin() + 15'000, layer("Conv", "fresh"));
  const auto rows = aligned(a, b);
  ASSERT_EQ(rows.size(), 20'001U);
  EXPECT_TRUE(rows[15'000].a.empty());
}

}  // namespace
}  // namespace paceline::analysis::difference
