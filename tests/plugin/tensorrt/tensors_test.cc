// SPDX-License-Identifier: MIT
// Plans with several inputs and outputs, and with some that the host holds.
#include "plugin/tensorrt/double_test.h"

namespace paceline::tensorrt_test {
namespace {

using model_files_test::bind;
using model_files_test::run;
using model_files_test::tensor;
using testing::ElementsAre;

class TensorRtTensors : public Double {
 protected:
  std::unique_ptr<plugin::Engine> load_for(const std::vector<Tensor>& data,
                                           const model_files_test::Settings& with = {}) {
    return model_files_test::load(folder_.file("m.plan"), model_files_test::specs_of(data), with);
  }
};

constexpr const char* kReshape =
    "input x float -1 4\ninput shape int64 2 host\noutput y float shaped_by shape\noutput n int64 host of "
    "shape\n";

std::vector<Tensor> reshaped(std::int64_t rows, std::int64_t columns) {
  std::vector<Tensor> data;
  data.push_back(tensor("x", {1, 4}, std::vector<float>{1, 2, 3, 4}));
  data.push_back(tensor("shape", {2}, std::vector<std::int64_t>{rows, columns}));
  return data;
}

TEST_F(TensorRtTensors, EachInputAndOutputHasItsOwnMemory) {
  (void)build("input x float -1 4\ninput b float 3\noutput y float of b\noutput z float of x\n");
  std::vector<Tensor> data;
  data.push_back(tensor("x", {1, 4}, std::vector<float>{1, 2, 3, 4}));
  data.push_back(tensor("b", {3}, std::vector<float>{5, 6, 7}));
  for (const char* graph : {"false", "true"}) {
    const auto engine = load_for(data, {"fp32", 1, {{"cuda_graph", graph}}});
    bind(*engine, data);
    EXPECT_THAT(run(*engine, 0), ElementsAre(10, 12, 14));
    EXPECT_THAT(run(*engine, 1), ElementsAre(2, 4, 6, 8));
  }
}

TEST_F(TensorRtTensors, HostTensorsHaveHostAddresses) {
  (void)build(kReshape);
  auto data = reshaped(2, 3);
  for (const char* io : {"device", "pinned", "pageable"}) {
    const auto engine = load_for(data, {"fp32", 1, {{"io", io}}});
    bind(*engine, data);
    EXPECT_THAT(run(*engine, 0), ElementsAre(2, 4, 6, 8, 2, 4)) << io;
    engine->enqueue(0);
    const auto outputs = engine->synchronize(0);
    EXPECT_EQ(outputs[0].shape, (Shape{2, 3}));
    EXPECT_THAT(run(*engine, 1), ElementsAre(4, 6)) << io;
  }
}

TEST_F(TensorRtTensors, OtherValuesGiveTheOutputsOtherShapes) {
  (void)build(kReshape);
  for (const char* graph : {"false", "true"}) {
    auto data = reshaped(1, 1);
    const auto engine = load_for(data, {"fp32", 1, {{"cuda_graph", graph}}});
    bind(*engine, data);
    EXPECT_THAT(run(*engine), ElementsAre(2)) << graph;
    data = reshaped(4, 2);  // larger: the memory of before is too small
    bind(*engine, data);
    EXPECT_THAT(run(*engine), ElementsAre(2, 4, 6, 8, 2, 4, 6, 8)) << graph;
    EXPECT_EQ(engine->synchronize(0)[0].shape, (Shape{4, 2})) << graph;
  }
}

TEST_F(TensorRtTensors, ValuesThatAreNoShapeAreRefused) {
  (void)build(kReshape);
  auto data = reshaped(2, -1);
  const auto engine = load_for(data);
  const auto [code, text] = error_of([&] { bind(*engine, data); });
  EXPECT_EQ(code, ErrorCode::kData);
  EXPECT_THAT(text, HasSubstr("no output shapes"));
  data = reshaped(2, 1);
  bind(*engine, data);
  EXPECT_THAT(run(*engine), ElementsAre(2, 4));
}

}  // namespace
}  // namespace paceline::tensorrt_test
