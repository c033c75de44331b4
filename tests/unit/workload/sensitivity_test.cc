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
  spec.inference.input_files = {(folder / "x.npy").string()};
  spec.task.emplace<pass::QuantiseTo>().file = (folder / "model.onnx").string();
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
