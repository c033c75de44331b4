// SPDX-License-Identifier: MIT
#include "run/case/model_identity.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "config/folder_models.h"
#include "config/vocabulary.h"
#include "onnx/graph.h"
#include "onnx/model_file.h"
#include "run/case/model_parts.h"

namespace paceline::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = R"({"model_type": "bert", "hidden_size": 8, "num_hidden_layers": 1,
  "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 32, "max_position_embeddings": 16,
  "architectures": ["BertModel"]})";

class ModelIdentity : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    write_file_atomic(folder_ / name, text);
    return (folder_ / name).string();
  }
  // As a copy of a file would have it, which tells nothing of its content.
  static void set_time(const std::string& file, int hours) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  }
  CaseRun with_file(const std::string& file) {
    CaseRun c;
    c.dir = folder_ / "case";
    c.base.model.file = file;
    return c;
  }
  // One a test: several may run at the same time.
  fs::path folder_ =
      fs::path(::testing::TempDir()) /
      ("paceline_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(ModelIdentity, TheSizeOnDiskIsThatOfAllParts) {
  const auto xml = write("m.xml", "<net/>");
  EXPECT_EQ(size_of_parts(xml), 6) << "weights that are not there";
  write("m.bin", std::string(1000, 'w'));
  EXPECT_EQ(size_of_parts(xml), 1006);
  EXPECT_EQ(size_of_parts(write("m.pt", "torch")), 5);
  onnx::proto::ModelProto model;
  for (const char* place : {"m.data", "./m.data", "gone.data"}) {
    auto& tensor = *model.mutable_graph()->add_initializer();
    onnx::set_external_data(tensor, place, 0, 10);
    tensor.set_data_location(onnx::proto::TensorProto::EXTERNAL);
  }
  write("m.data", std::string(1000, 'w'));
  const auto bytes = model.SerializeAsString();
  EXPECT_EQ(size_of_parts(write("m.onnx", bytes)), static_cast<std::int64_t>(bytes.size()) + 1000);
}

TEST_F(ModelIdentity, ContentDecidesNotTime) {
  const auto file = write("a.spin", "one");
  const auto c = with_file(file);
  EXPECT_EQ(changed_model_file(c), "");  // nothing is known
  keep_model_identity(c);
  EXPECT_EQ(changed_model_file(c), "");
  set_time(file, 5);
  EXPECT_EQ(changed_model_file(c), "");
  write("a.spin", "two");
  keep_model_identity(c);  // what was kept first stands
  EXPECT_EQ(changed_model_file(c),
            "'" + file + "' is another file than when the case was measured (it contains other bytes)");
  write("a.spin", "three");
  EXPECT_NE(changed_model_file(c).find("it had 3 bytes and has 5"), std::string::npos);
  fs::remove(file);
  EXPECT_EQ(changed_model_file(c), "");
}

TEST_F(ModelIdentity, FilesBesideTheNamedOneCount) {
  const auto file = write("net.xml", "<net/>");
  write("net.bin", "weights");
  const auto c = with_file(file);
  keep_model_identity(c);
  write("net.bin", "WEIGHTS");
  EXPECT_NE(changed_model_file(c).find("net.bin' is another file"), std::string::npos);
}

TEST_F(ModelIdentity, ExternalDataOfOnnxCount) {
  using Names = std::vector<std::string>;
  onnx::proto::ModelProto model;
  auto& graph = *model.mutable_graph();
  *graph.add_initializer() = onnx::make_tensor("w", Shape{1024}, std::vector<float>(1024, 1));
  onnx::add_node(graph, "Add", "add", Names{"x", "w"}, Names{"y"});
  *graph.add_output() = onnx::make_value_info({"y", DType::kFloat32, {1024}});
  const auto file = (folder_ / "net.onnx").string();
  onnx::write_model(model, file, {.external_data_above_bytes = 0});
  const auto c = with_file(file);
  keep_model_identity(c);
  EXPECT_EQ(changed_model_file(c), "");
  write("net.onnx.data", std::string(4096, 'x'));
  EXPECT_NE(changed_model_file(c).find("net.onnx.data' is another file"), std::string::npos);
}

TEST_F(ModelIdentity, AFolderIsItsConfigurationAndItsWeights) {
  const auto config = write("config.json", kConfig), weights = write("model.safetensors", "weights");
  CaseRun c = with_file({});
  c.base.model.name = config::read_folder_model(folder_.string()).name;
  c.base.model.weights_file = weights;
  keep_model_identity(c);
  EXPECT_EQ(changed_model_file(c), "");
  write("config.json", std::string(kConfig) + " ");
  EXPECT_NE(changed_model_file(c).find("config.json' is another file"), std::string::npos);
  write("config.json", kConfig);
  write("model.safetensors", "WEIGHTS");
  EXPECT_NE(changed_model_file(c).find("model.safetensors' is another file"), std::string::npos);
}

TEST_F(ModelIdentity, TheTimeDecidesForAVeryLargeFile) {
  const auto file = write("large.spin", "");
  fs::resize_file(file, std::uintmax_t{600} << 20);  // a hole: it takes no room
  const auto c = with_file(file);
  keep_model_identity(c);
  EXPECT_EQ(changed_model_file(c), "");
  set_time(file, 5);
  EXPECT_NE(changed_model_file(c).find("it was written at another time"), std::string::npos);
}

TEST_F(ModelIdentity, ADamagedIdentitySaysNothing) {
  const auto c = with_file(write("a.spin", "one"));
  keep_model_identity(c);
  write_file_atomic(c.dir / "passes" / "model.json", "[{\"file\": ");
  EXPECT_NE(changed_model_file(c).find("is damaged"), std::string::npos);
}

TEST_F(ModelIdentity, BuiltInModelsHaveNoFile) {
  CaseRun c = with_file({});
  c.base.model.name = "tiny_cnn";
  keep_model_identity(c);
  EXPECT_FALSE(fs::exists(c.dir / "passes"));
}

}  // namespace
}  // namespace paceline::run
