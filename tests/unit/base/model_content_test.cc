// SPDX-License-Identifier: MIT
#include "base/model_content.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace paceline {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

class ModelContent : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }
  fs::path folder_ = fs::path(::testing::TempDir()) / "model_content";
};

const std::string kOnnx = "\x08\x08\x12\x03onn\x3a\x05graph"s;
const std::string kOrt = "\x14\0\0\0ORTM\x0c\0\x10\0"s;
const std::string kNetwork = "\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\">";

TEST_F(ModelContent, AnEndingCountsInAnyCase) {
  EXPECT_EQ(model_suffix(file("A.ONNX", "")), ".onnx");
  EXPECT_EQ(model_suffix(file("net.Xml", "")), ".xml");
  EXPECT_EQ(model_suffix("not/there.PT2"), ".pt2");
}

TEST_F(ModelContent, WithoutAnEndingTheContentCounts) {
  EXPECT_EQ(model_suffix(file("2222", kOnnx)), ".onnx");
  EXPECT_EQ(model_suffix(file("model.v3", kOrt)), ".ort");
  EXPECT_EQ(model_suffix(file("network", kNetwork)), ".xml");
  EXPECT_EQ(model_suffix(file("engine", "ptrt\x01")), ".plan");
  EXPECT_EQ(model_suffix(file("text", "this is no model\n")), "");
  EXPECT_EQ(model_suffix(file("page", "<?xml version=\"1.0\"?><html>")), "");
  EXPECT_EQ(model_suffix(file("graph", "\x0a\x05nodes"s)), "") << "TensorFlow's";
  EXPECT_EQ(model_suffix(file("weights", "\x08\x0a\0\0\0\0\0\0{}"s)), "") << "safetensors";
  EXPECT_EQ(model_suffix(file("zip", "PK\x03\x04")), "");
  EXPECT_EQ(model_suffix((folder_ / "gone").string()), "");
  EXPECT_EQ(model_suffix(folder_.string()), "");
}

TEST_F(ModelContent, NamesFilesThatCannotBeModels) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 978\n";
  EXPECT_EQ(no_model_file(file("m", kOnnx)), std::nullopt);
  EXPECT_EQ(no_model_file(file("m", "")), "is empty; copy or download it again");
  EXPECT_EQ(no_data_file(file("m", "")), std::nullopt) << "a network without weights";
  EXPECT_NE(no_model_file(file("m", pointer)).value_or("").find("git lfs pull"), std::string::npos);
  EXPECT_NE(no_data_file(file("m", pointer)).value_or("").find("git lfs pull"), std::string::npos);
  EXPECT_NE(no_model_file(folder_ / "gone").value_or("").find("does not exist"), std::string::npos);
}

TEST_F(ModelContent, WeightsLieBesideTheNetwork) {
  EXPECT_EQ(weights_of_network("a/net.xml"), "a/net.bin");
  EXPECT_EQ(weights_of_network("a/NET.XML"), "a/NET.bin");
  EXPECT_EQ(weights_of_network("a.b/net"), "a.b/net.bin");
  file("N.BIN", "x");
  EXPECT_EQ(weights_of_network(folder_ / "N.XML"), folder_ / "N.BIN");
}

}  // namespace
}  // namespace paceline
