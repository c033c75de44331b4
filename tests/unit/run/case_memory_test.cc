// SPDX-License-Identifier: MIT
#include "run/inference/case_memory.h"

#include <gtest/gtest.h>

namespace paceline::run {
namespace {

config::Case inference(const std::string& lines) {
  return config::expand(config::load_plan_text("kind: inference\nmodel: resnet50\n" + lines, "test.yaml"))
      .at(0);
}

MemoryHere machine(std::int64_t host_bytes, std::int64_t device_bytes) {
  MemoryHere here;
  here.host.total_bytes = here.host.available_bytes = host_bytes;
  here.host.cgroup_limit_bytes = Count::missing("no limit");
  here.gpu = [device_bytes](int index) {
    host::NvidiaGpu gpu;
    gpu.name = std::string("NVIDIA H200");
    if (index == 0) gpu.memory_bytes = device_bytes;
    return gpu;
  };
  return here;
}

constexpr std::int64_t kH200 = 150'754'820'096, kHost = 135'000'000'000;

TEST(CaseMemory, BatchOf60000ImagesIsRefusedWithBothNumbers) {
  EXPECT_EQ(memory_obstacle(inference("device: cuda\nbatch: 60000\n"), machine(kHost, kH200)),
            "out of memory: an inference of 60000 images needs at least 422 GB (inputs 36.1 GB, weights 102 "
            "MB, activations 385 "
            "GB), and cuda:0 (NVIDIA H200) has 151 GB; use a smaller batch");
}

TEST(CaseMemory, CasesThatRanOnTheH200AreNotRefused) {
  // Tensors that were measured there: each bound must stay below.
  struct Row {
    const char *engine, *precision;
    int batch;
    double measured;
  };
  for (const auto& [engine, precision, batch, measured] :
       {Row{"eager", "fp32", 1, 148093952}, Row{"eager", "fp32", 32, 490418176},
        Row{"eager", "amp_fp16", 32, 337524224}, Row{"eager", "bf16", 32, 277206016},
        Row{"torchscript", "fp32", 32, 424361472}, Row{"torchscript", "bf16", 32, 281456640},
        Row{"eager", "fp16", 256, 1500886528}, Row{"torchscript", "fp16", 256, 1092979200}}) {
    const auto c = inference("device: cuda\nengine: " + std::string(engine) + "\nprecision: " + precision +
                             "\nbatch: " + std::to_string(batch) + "\n");
    EXPECT_LT(least_inference_memory(c).bytes(), measured) << c.label;
    EXPECT_EQ(memory_obstacle(c, machine(kHost, kH200)), "");
  }
}

TEST(CaseMemory, WithoutFiguresNothingIsRefused) {
  const auto second = inference("device: cuda:1\nbatch: 60000\n");  // its memory is not told
  EXPECT_EQ(memory_obstacle(second, machine(kHost, kH200)), "");
}

TEST(CaseMemory, TheHostHoldsTheInputsToo) {
  EXPECT_EQ(memory_obstacle(inference("device: cuda:1\nbatch: 60000\n"), machine(24'000'000'000, kH200)),
            "out of memory: an inference of 60000 images needs at least 36.1 GB (inputs 36.1 GB), and the "
            "host can give 24.0 GB; "
            "use a smaller batch");
  EXPECT_NE(memory_obstacle(inference("device: cpu\nbatch: 60000\n"), machine(kHost, kH200)), "");
  EXPECT_EQ(memory_obstacle(inference("device: cpu\nbatch: 8\n"), machine(kHost, kH200)), "");
}

}  // namespace
}  // namespace paceline::run
