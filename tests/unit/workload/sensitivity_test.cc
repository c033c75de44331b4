// SPDX-License-Identifier: MIT
#include "workload/prepare/sensitivity.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "../onnx/model_builder.h"
#include "base/npy.h"
#include "scratch_folder.h"
#include "throws_with.h"

namespace paceline::workload {
namespace {

Sensitivity example() {
  Sensitivity s;
  s.engine = "ONNX Runtime 1.31.1";
  s.method = "percentile 99.99";
  s.data = "images of 'calib'";
  s.samples = 8;
  s.target = 0.95;
  s.layers = {{"conv1", "Conv", {0.91, 0.2}}, {"fc", "Gemm", {0.999, 0.01}}};
  s.all = {0.9, 0.3};
  return s;
}

bool says(const Sensitivity& s, const std::string& words) {
  return sensitivity_table(sensitivity_json(s)).find(words) != std::string::npos;
}

TEST(Sensitivity, TheTableHasEveryLayerAndWhatRan) {
  const auto s = example();
  for (const char* words : {"conv1", "0.910000", "0.2000", "fc", "Gemm", "all layers", "0.900000",
                            "8 samples, ONNX Runtime 1.31.1, ranges by percentile 99.99"})
    EXPECT_TRUE(says(s, words)) << words;
}

TEST(Sensitivity, AdviceIsWhatWasMeasured) {
  auto s = example();
  EXPECT_TRUE(says(s, "do not suit int8"));
  s.exclude = {"conv1"};
  s.after_exclusion = {0.98, 0.05};
  EXPECT_TRUE(says(s, "--quantisation.exclude conv1  (measured: 0.980000)"));
  s.all.centred_cosine = 0.96;
  s.exclude.clear();
  EXPECT_TRUE(says(s, "nothing to exclude"));
}

TEST(Sensitivity, OneSampleGivesNoAdvice) {
  auto s = example();
  s.all.centred_cosine = result::Number::missing("needs two samples");
  EXPECT_TRUE(says(s, "give more calibration data"));
}

struct NoSink : pass::RecordSink {
  void emit(const nlohmann::json&) override {}
};

// The model takes two samples at once, and the engine answers with one row.
TEST(Sensitivity, OutputsThatAreNotOneRowASampleAreRefused) {
  const test::ScratchFolder folder;
  Tensor inputs({"x", DType::kFloat32, {8, 2, 1, 1}});
  write_npy(folder / "x.npy", inputs.view());
  pass::PassSpec spec;
  spec.use(plugin::Role::kEngine, "fault", SPIN_PLUGIN_FILE);
  spec.model.inputs = {{"x", DType::kFloat32, {1, 2, 1, 1}}};
  spec.input_files = {(folder / "x.npy").string()};
  spec.quantise_to.file = (folder / "model.onnx").string();
  onnx::ModelBuilder builder;
  auto& model = builder.input("x", {2, 2, 1, 1}).conv("x", "y").output("y").model();
  NoSink sink;
  const std::atomic<bool> interrupt{false};
  ModelRunner runner(spec, sink, interrupt);
  ::setenv("SPIN_FAULT", "badshape", 1);
  test::expect_error(ErrorCode::kData, {"the batch is 2"},
                     [&] { measure_sensitivity(model, {}, {}, 0.95, runner); });
  ::unsetenv("SPIN_FAULT");
}

}  // namespace
}  // namespace paceline::workload
