// SPDX-License-Identifier: MIT
#include "result/stored/benchmark_params.h"

#include <gtest/gtest.h>

#include "result/stored/case_fields.h"

namespace paceline::result {
namespace {

TEST(BenchmarkParams, TheCpuIsNoDevice) {
  Benchmark b;
  set_device(b, "cuda:1");
  EXPECT_EQ(b.device, "cuda:1");
  set_device(b, "cpu");
  EXPECT_EQ(b.device, "");
}

TEST(BenchmarkParams, AreStoredInTheirOwnFields) {
  Benchmark b;
  auto json = Writer::write(b);
  EXPECT_EQ(json.at("device"), "");
  EXPECT_EQ(json.at("fault"), "");
  EXPECT_TRUE(json.at("gpus").is_null());
  EXPECT_EQ(json.at("gpus_reason"), "none asked for");
  EXPECT_TRUE(json.at("instances").is_null());
  b.device = "cuda", b.gpus = 2, b.instances = 4, b.fault = "nan:rank=0,step=1";
  json = Writer::write(b);
  EXPECT_EQ(json.at("gpus"), 2);
  EXPECT_EQ(json.at("params"), Json::object());
  Benchmark read;
  Reader::read(json, "", read);
  EXPECT_EQ(read, b);
}

TEST(BenchmarkParams, AllAreListedByTheNamesOfTheirOptions) {
  Benchmark b;
  EXPECT_TRUE(parameters_of(b).empty());
  b.params = {{"sequence_length", "128"}};
  b.device = "cuda:1", b.gpus = 2, b.instances = 4, b.fault = "nan:rank=0,step=1";
  EXPECT_EQ(parameters_of(b), (std::map<std::string, std::string>{{"device", "cuda:1"},
                                                                  {"gpus", "2"},
                                                                  {"inject", "nan:rank=0,step=1"},
                                                                  {"instances", "4"},
                                                                  {"sequence_length", "128"}}));
}

TEST(BenchmarkParams, InstancesOfAGpuAreOneUnlessAskedFor) {
  Benchmark b;
  EXPECT_EQ(instances_per_gpu(b), 1);
  b.params = {{"instances_per_device", "3"}};
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
  b.params = {{"threads_per_instance", "8"}, {"sequence_length", "128"}};
  EXPECT_EQ(without_threads_per_instance(b).params,
            (std::map<std::string, std::string>{{"sequence_length", "128"}}));
}

TEST(BenchmarkParams, AFaultIsReadWhereThisVersionKnowsIt) {
  Benchmark b;
  EXPECT_FALSE(fault_of(b));
  b.fault = "slow=200ms:rank=1";
  ASSERT_TRUE(fault_of(b));
  EXPECT_EQ(fault_of(b)->kind, Fault::Kind::kSlow);
  EXPECT_EQ(fault_of(b)->rank, 1);
  b.fault = "of a newer version";
  EXPECT_FALSE(fault_of(b));
}

TEST(BenchmarkParams, WhatWasFoundInStepsTellsNoBenchmarksApart) {
  Benchmark asked, found;
  asked.params = {{"traces", "true"}, {"command", "train.py"}};
  found.params = asked.params;
  for (const auto* mark : {kPipeline, kSharded, kUnwrapped, kWithWaiting}) found.params[mark] = "true";
  EXPECT_EQ(identity_of(found).params, identity_of(asked).params);
  EXPECT_EQ(identity_of(asked).params, asked.params);
}

}  // namespace
}  // namespace paceline::result
