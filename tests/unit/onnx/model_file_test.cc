// SPDX-License-Identifier: MIT
#include "onnx/model_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "onnx/graph.h"

namespace paceline::onnx {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class ModelFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  // y = x + w with 1024 weights.
  static proto::ModelProto small_model() {
    proto::ModelProto model;
    auto& graph = *model.mutable_graph();
    std::vector<float> weights(1024);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i);
    *graph.add_initializer() = make_tensor("w", Shape{1024}, weights);
    add_node(graph, "Add", "add", Names{"x", "w"}, Names{"y"});
    *graph.add_output() = make_value_info({"y", DType::kFloat32, {1024}});
    return model;
  }
  std::string reason(const fs::path& path) {
    try {
      (void)read_model(path);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
  fs::path folder_;
};

TEST_F(ModelFile, WithoutOutputsThereIsNothingToCompute) {
  auto model = small_model();
  model.mutable_graph()->clear_output();
  write_model(model, folder_ / "m.onnx");
  EXPECT_NE(reason(folder_ / "m.onnx").find("names no outputs"), std::string::npos);
}

TEST_F(ModelFile, ComesBackAsWritten) {
  auto model = small_model();
  write_model(model, folder_ / "m.onnx");
  EXPECT_EQ(read_model(folder_ / "m.onnx").SerializeAsString(), model.SerializeAsString());
}

TEST_F(ModelFile, LargeWeightsMoveIntoAFileBesideItAndBack) {
  auto model = small_model();
  const auto before = model.SerializeAsString();
  write_model(model, folder_ / "m.onnx", {.external_data_above_bytes = 1000});
  EXPECT_EQ(model.SerializeAsString(), before);
  EXPECT_EQ(fs::file_size(folder_ / "m.onnx.data"), 4096U);
  EXPECT_LT(fs::file_size(folder_ / "m.onnx"), 1000U);
  EXPECT_EQ(read_model(folder_ / "m.onnx").SerializeAsString(), before);
  EXPECT_EQ(size_on_disk(folder_ / "m.onnx"),
            static_cast<std::int64_t>(fs::file_size(folder_ / "m.onnx") + 4096));
}

TEST_F(ModelFile, SaysWhatIsWrong) {
  EXPECT_NE(reason(folder_ / "none.onnx").find("no such file"), std::string::npos);
  std::ofstream(folder_ / "text.onnx") << "this is not a model";
  EXPECT_NE(reason(folder_ / "text.onnx").find("cannot be read as ONNX"), std::string::npos);
  std::ofstream(folder_ / "empty.onnx");
  EXPECT_NE(reason(folder_ / "empty.onnx").find("cannot be read as ONNX"), std::string::npos);
  auto model = small_model();
  write_model(model, folder_ / "m.onnx");
  fs::resize_file(folder_ / "m.onnx", fs::file_size(folder_ / "m.onnx") / 2);
  EXPECT_NE(reason(folder_ / "m.onnx").find("cut short"), std::string::npos);
}

TEST_F(ModelFile, MissingOrShortExternalDataIsNamed) {
  auto model = small_model();
  write_model(model, folder_ / "m.onnx", {.external_data_above_bytes = 0});
  fs::resize_file(folder_ / "m.onnx.data", 100);
  EXPECT_NE(reason(folder_ / "m.onnx").find("is cut short: tensor 'w'"), std::string::npos);
  fs::remove(folder_ / "m.onnx.data");
  EXPECT_NE(reason(folder_ / "m.onnx").find("keeps tensor 'w'"), std::string::npos);
}

TEST_F(ModelFile, ExternalDataStaysInTheModelsFolder) {
  auto model = small_model();
  auto& tensor = *model.mutable_graph()->mutable_initializer(0);
  tensor.clear_raw_data();
  tensor.set_data_location(proto::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("../../etc/passwd");
  std::ofstream(folder_ / "m.onnx", std::ios::binary) << model.SerializeAsString();
  EXPECT_NE(reason(folder_ / "m.onnx").find("not a place beside the model"), std::string::npos);
}

}  // namespace
}  // namespace paceline::onnx
