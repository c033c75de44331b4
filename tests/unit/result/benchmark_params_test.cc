// SPDX-License-Identifier: MIT
#include "result/stored/benchmark_params.h"

#include <gtest/gtest.h>

#include "result/stored/case_fields.h"

namespace paceline::result {
namespace {

TEST(BenchmarkParams, TheDeviceIsAParameterUnlessItIsTheCpu) {
  Benchmark b;
  EXPECT_EQ(device_of(b), std::nullopt);
  set_device(b, "cuda:1");
  EXPECT_EQ(device_of(b), "cuda:1");
  EXPECT_EQ(Writer::write(b).at("params"), (Json{{"device", "cuda:1"}})) << "stored as before";
  set_device(b, "cpu");
  EXPECT_EQ(device_of(b), std::nullopt);
  EXPECT_TRUE(b.params.empty());
}

TEST(BenchmarkParams, NumbersThatNobodyAskedForAreMissing) {
  Benchmark b;
  EXPECT_EQ(gpus_of(b), std::nullopt);
  EXPECT_EQ(instances_of(b), std::nullopt);
  EXPECT_EQ(instances_per_gpu(b), 1);
  b.params = {{"gpus", "2"}, {"instances", "odd"}, {"instances_per_device", "3"}};
  EXPECT_EQ(gpus_of(b), 2);
  EXPECT_EQ(instances_of(b), std::nullopt);
  EXPECT_EQ(instances_per_gpu(b), 3);
}

TEST(BenchmarkParams, GpusAreThoseThatWereNamed) {
  Benchmark b;
  EXPECT_EQ(gpu_at(b, 1), 1);
  b.params = {{"devices", "4,6"}};
  EXPECT_EQ(gpu_at(b, 0), 4);
  EXPECT_EQ(gpu_at(b, 1), 6);
  EXPECT_EQ(gpu_at(b, 2), 4) << "the places begin again";
}

TEST(BenchmarkParams, WithoutOneTheOthersStay) {
  Benchmark b;
  b.params = {{"gpus", "2"}, {"instances", "4"}, {"threads_per_instance", "8"}, {"sequence_length", "128"}};
  EXPECT_EQ(without_gpus(b).params.size(), 3U);
  EXPECT_EQ(gpus_of(without_gpus(b)), std::nullopt);
  EXPECT_EQ(instances_of(without_instances(b)), std::nullopt);
  const auto bare = without_threads_per_instance(without_instances(without_gpus(b)));
  EXPECT_EQ(bare.params, (std::map<std::string, std::string>{{"sequence_length", "128"}}));
}

TEST(BenchmarkParams, AFaultIsReadWhereThisVersionKnowsIt) {
  Benchmark b;
  EXPECT_FALSE(fault_of(b));
  EXPECT_EQ(fault_text(b), "");
  b.params["inject"] = "slow=200ms:rank=1";
  ASSERT_TRUE(fault_of(b));
  EXPECT_EQ(fault_of(b)->kind, Fault::Kind::kSlow);
  EXPECT_EQ(fault_of(b)->rank, 1);
  b.params["inject"] = "of a newer version";
  EXPECT_FALSE(fault_of(b));
  EXPECT_EQ(fault_text(b), "of a newer version");
}

}  // namespace
}  // namespace paceline::result
