// SPDX-License-Identifier: MIT
// Findings about the runs on an H200 of 2026-11-26, cut to what these sentences need.
#include <gmock/gmock.h>

#include "analysis/case_query.h"
#include "base/file.h"
#include "result/figures/device_figures.h"
#include "result/stored/result_json.h"
#include "unit/analysis/findings_of.h"

namespace paceline::analysis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

result::RunResult h200(const std::string& name) {
  const std::string file = TEST_DATA "/gpu/h200_" + name + ".json";
  return result::run_from_json(nlohmann::json::parse(read_file(file)), file);
}

std::vector<std::string> said(const std::string& name, const std::string& rule) {
  std::vector<std::string> texts;
  for (const auto& finding : of_kind(h200(name), rule))
    texts.push_back(finding.text + (finding.advice.empty() ? "" : " " + finding.advice));
  return texts;
}

const CaseResult& case_named(const result::RunResult& run, const std::string& label) {
  for (const auto& one : run.cases)
    if (one.label == label) return one;
  throw std::runtime_error(label);
}

TEST(Device, NoCaseIsDowngradedForTheHostWhereTheDeviceDecides) {
  std::size_t decided = 0;
  for (const auto* name : {"study", "precisions_b32", "peak_b256", "train_b256", "two_ranks_gloo"})
    for (const auto& one : h200(name).cases) {
      if (!is_ok(one)) continue;
      const bool device = result::device_decides(one);
      EXPECT_EQ(device, one.benchmark.world_size == 1) << one.label;
      decided += device ? 1 : 0;
      for (const auto* host : {"cost of timing", "spinning thread", "waited", "neighbours", "hypervisor"})
        for (const auto& reason : one.grade_reasons)
          EXPECT_TRUE(!device || reason.find(host) == std::string::npos) << one.label << ": " << reason;
    }
  EXPECT_EQ(decided, 29U);
}

TEST(Device, GradesOfTheStudyAreTheDevices) {
  const auto run = h200("precisions_b32");
  const auto& amp = case_named(run, "resnet50 torchscript amp_fp16 b32 cuda");
  EXPECT_THAT(amp.grade_reasons,
              ElementsAre("the times fall into several groups: 3.53 ms (83 %), 3.59 ms (17 %)",
                          "the first samples still look like warm-up"));
  EXPECT_THAT(amp.noise.warnings, Contains(HasSubstr("the cost of timing changed by 27.3 %")));
  EXPECT_EQ(case_named(run, "resnet50 eager bf16 b32 cuda").grade, result::Grade::kA);
}

TEST(Device, TrainingSaysItsPowerCap) {
  const auto run = h200("train_b256");
  const auto& amp = case_named(run, "resnet50 train amp b256 r1 channels_last cuda");
  EXPECT_EQ(amp.grade, result::Grade::kB);
  EXPECT_THAT(amp.grade_reasons, ElementsAre("the GPU was at its power cap in 50 % of the samples"));
  EXPECT_EQ(case_named(run, "resnet50 train bf16 b256 r1 channels_last cuda").grade, result::Grade::kA);
  EXPECT_THAT(
      said("train_b256", "device_slowdown"),
      ElementsAre(
          "resnet50 train amp b256 r1 channels_last cuda: the GPU of rank 0 was at its power cap in 50 % "
          "of the samples (mean clock 1961 MHz). Compare it only with runs at the same power limit and "
          "cooling; nvidia-smi -q -d POWER,CLOCK shows both."));
}

TEST(Device, TheHostDecidesWhereRanksWaitForEachOther) {
  const auto run = h200("two_ranks_gloo");
  EXPECT_EQ(run.cases.at(0).grade, result::Grade::kC);
  EXPECT_THAT(run.cases.at(0).grade_reasons, Contains(HasSubstr("neighbours used 85.5 %")));
}

TEST(Device, SaysWhatFp32LeavesIdle) {
  EXPECT_THAT(
      said("precisions_b32", "idle_tensor_cores"),
      ElementsAre(
          "tf32 is 2.21 times and amp_fp16 is 3.05 times as fast as fp32 for eager resnet50 "
          "device=cuda:0 at batch 32: fp32 leaves the tensor cores idle; no claim: fewer than six pairs of "
          "processes. Try --precision tf32.",
          "tf32 is 2.32 times and amp_fp16 is 2.81 times as fast as fp32 for torchscript resnet50 "
          "device=cuda:0 at batch 32: fp32 leaves the tensor cores idle; no claim: fewer than six pairs of "
          "processes. Try --precision tf32."));
}

TEST(Device, SaysWhereTheHostLaunchesTooSlowly) {
  EXPECT_THAT(
      said("study", "slow_launches"),
      ElementsAre(
          "amp_fp16 is 0.99 times as fast as fp32 for eager resnet50 device=cuda:0 at batch 1 and 3.09 "
          "times at batch 32: at batch 1 the host launches too slowly for it to gain; no claim: fewer "
          "than six pairs of processes. Try --cuda-graphs true, a larger batch (--batch 32), --engine "
          "torchscript."));
  auto run = h200("study");
  auto& one = run.cases.at(0);
  one.device_p50_ns.value = *one.headline.p50_ns.value * 0.61;
  EXPECT_EQ(of_kind(run, "slow_launches").at(0).text,
            "resnet50 eager fp32 b1 cuda: the device works in 61 % of the wall time and waits for the host "
            "in the rest.");
  auto& copies = one.device_parts.emplace_back();
  copies.name = "h2d", copies.p50_ns = *one.headline.p50_ns.value * 0.3;
  EXPECT_THAT(of_kind(run, "slow_launches").at(0).text, HasSubstr("at batch 1 the host launches too slowly"));
  one.device_parts.clear();
  one.effective_settings["cuda_graph"] = "on";
  EXPECT_TRUE(of_kind(run, "slow_launches").empty());
}

TEST(Device, SaysWhichConvolutionsAreNotAsTensorCoresTakeThem) {
  EXPECT_THAT(said("study", "contiguous_convolutions"),
              ElementsAre(HasSubstr(
                  "4 cases in half precision with convolutions in contiguous layout: resnet50 eager "
                  "amp_fp16 b1 cuda")));
  EXPECT_TRUE(said("peak_b256", "contiguous_convolutions").empty());
  EXPECT_TRUE(said("peak_b256", "cudnn_by_rule").empty());
  EXPECT_THAT(said("precisions_b32", "cudnn_by_rule"),
              ElementsAre(HasSubstr("8 cases with cudnn_benchmark off: ")));
  EXPECT_THAT(said("precisions_b32", "cudnn_by_rule"),
              ElementsAre(HasSubstr("Try --cuda.cudnn_benchmark true.")));
  auto run = h200("study");
  auto last = run.cases.at(3);
  last.case_id += "-channels_last", last.benchmark.layout = "channels_last";
  last.headline.p50_ns.value = 2e6;
  run.cases.push_back(last);
  EXPECT_EQ(of_kind(run, "contiguous_convolutions").at(0).text,
            "channels_last is 1.90 times as fast as contiguous for amp_fp16 eager resnet50 device=cuda:0 at "
            "batch 32; no "
            "claim: fewer than six pairs of processes.");
}

// Whatever the file is called, its operators say whether a layout matters.
TEST(Device, OperatorsSayWhetherAModelHasConvolutions) {
  const auto advised = [](const char* model, Number share) {
    auto run = h200("study");
    for (auto& one : run.cases) one.benchmark.model = model, one.flops.convolution_share = share;
    return of_kind(run, "contiguous_convolutions").size();
  };
  EXPECT_EQ(advised("my_cnn.pt", 0.97), 1U);
  EXPECT_EQ(advised("resnet_mlp.pt", 0.0), 0U);
  EXPECT_EQ(advised("vit_b_16", 0.0066), 0U);
  EXPECT_EQ(advised("resnet50", Number::missing("this engine does not report it")), 0U);
}

TEST(Device, ALayoutIsOnlyAnOptionOfLibTorch) {
  auto run = h200("study");
  for (auto& one : run.cases) one.benchmark.engine = "tensorrt";
  EXPECT_TRUE(of_kind(run, "contiguous_convolutions").empty());
}

TEST(Device, RequestsThatWaitSayNothingOfTheGpu) {
  auto run = h200("study");
  for (auto& one : run.cases) one.payload.emplace<result::Load>();
  for (const auto* rule : {"slow_launches", "gain_by_model", "cudnn_by_rule"})
    EXPECT_TRUE(of_kind(run, rule).empty()) << rule;
}

TEST(Device, SaysWhichModelGainsMore) {
  EXPECT_THAT(
      said("study", "gain_by_model"),
      Contains(
          "vit_b_16 gains 6.92 times and resnet50 3.09 times from amp_fp16 eager device=cuda:0 at batch 32; "
          "no claim: fewer than six pairs of processes."));
}

TEST(Device, SaysFromWhichBatchThroughputIsFlat) {
  auto run = h200("study");
  run.cases.resize(2);
  for (const auto& [batch, rate] : {std::pair{64, 2800.0}, {128, 2830.0}}) {
    auto larger = run.cases[1];
    larger.case_id += std::to_string(batch), larger.benchmark.batch_per_rank = batch;
    larger.throughput.per_s.value = rate;
    run.cases.push_back(larger);
  }
  ASSERT_EQ(of_kind(run, "flat_batch").size(), 1U);
  EXPECT_THAT(of_kind(run, "flat_batch")[0].text, HasSubstr("throughput is flat beyond batch 32"));
  EXPECT_EQ(of_kind(run, "flat_batch")[0].advice,
            "Use --batch 32: a larger one only adds latency and memory.");
  run.cases.back().throughput.per_s.value = 3500.0;
  EXPECT_TRUE(of_kind(run, "flat_batch").empty());
}

// The H200's fp32 cases alone, with peaks as a probe would have found them there.
result::RunResult with_peaks(const std::string& name) {
  auto run = h200(name);
  std::erase_if(run.cases, [](const auto& one) { return one.benchmark.precision != "fp32"; });
  for (auto& one : run.cases) {
    auto& peaks = one.device_peaks.emplace();
    peaks.device = "NVIDIA H200";
    peaks.peaks = {{"product", "fp32", 52e12, 0.01, 40, "", 67e12},
                   {"product", "tf32", 380e12, 0.01, 40, "", 494.7e12},
                   {"product", "fp16", 676e12, 0.01, 40, "", 989.5e12},
                   {"copy", "pinned_to_device", 53e9, 0.01, 40, ""},
                   {"copy", "pageable_to_device", 10.6e9, 0.01, 40, ""}};
  }
  return run;
}

TEST(Device, PeaksSayHowMuchFasterTensorCoresAre) {
  auto run = with_peaks("precisions_b32");
  const auto found = of_kind(run, "unused_tensor_cores");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found[0].text,
      "2 cases in fp32 leave the tensor cores of the NVIDIA H200 idle: tf32 products up to 7.3 times, "
      "fp16 products up to 13.0 times as fast there (resnet50 eager fp32 b32 cuda, resnet50 torchscript "
      "fp32 b32 cuda).");
  EXPECT_EQ(found[0].evidence, "products measured on it: fp32 52, tf32 380, fp16 676 TFLOP/s");
  EXPECT_EQ(found[0].advice, "Try --precision tf32,amp_fp16.");
  for (auto& one : run.cases)
    for (auto& peak : one.device_peaks->peaks) peak.per_s = Number::missing("not asked for");
  EXPECT_THAT(of_kind(run, "unused_tensor_cores").at(0).evidence,
              HasSubstr("its datasheet: fp32 67, tf32 495"));
  run.cases[0].device_peaks->peaks.clear();
  EXPECT_TRUE(of_kind(run, "unused_tensor_cores").empty());
  EXPECT_TRUE(of_kind(h200("precisions_b32"), "unused_tensor_cores").empty())
      << "a run that has tf32 says more";
}

void add_parts(CaseResult& one, double h2d, double model, double d2h) {
  const double wall = *one.headline.p50_ns.value;
  for (const auto& [name, share] : {std::pair{"h2d", h2d}, {"compute", model}, {"d2h", d2h}}) {
    auto& part = one.device_parts.emplace_back();
    part.name = name, part.p50_ns = share * wall;
  }
}

TEST(Device, PageableCopiesHaveTheirShareAndWhatPinnedMemoryWouldGive) {
  auto run = with_peaks("precisions_b32");
  run.cases.resize(1);
  auto& one = run.cases[0];
  one.effective_settings["io"] = "inputs and outputs copied from and to pageable memory";
  add_parts(one, 0.3, 0.6, 0.02);
  const auto found = of_kind(run, "pageable_copies");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text,
            "resnet50 eager fp32 b32 cuda: copies from and to pageable memory take 32 % of the wall time; "
            "pinned memory is copied up to 5.0 times as fast there (53.0 against 10.6 GB/s).");
  EXPECT_EQ(found[0].advice, "Try --io pinned.");
  EXPECT_TRUE(of_kind(run, "serial_copies").empty());
  one.device_parts.clear();
  add_parts(one, 0.02, 0.9, 0.01);
  EXPECT_TRUE(of_kind(run, "pageable_copies").empty());
}

TEST(Device, SerialCopiesSayWhatOverlapWouldGive) {
  auto run = with_peaks("precisions_b32");
  run.cases.resize(1);
  auto& one = run.cases[0];
  one.effective_settings["io"] = "inputs and outputs copied from and to pinned memory";
  add_parts(one, 0.25, 0.5, 0.15);
  const auto found = of_kind(run, "serial_copies");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found[0].text,
      "resnet50 eager fp32 b32 cuda: copies take 40 % of the wall time and wait for the model, as it does "
      "for them: beside each other they would give up to 1.80 times the throughput.");
  EXPECT_EQ(found[0].advice, "Try --timing pipelined --overlap.");
  one.effective_settings["overlap"] = "on";
  EXPECT_TRUE(of_kind(run, "serial_copies").empty());
  one.effective_settings["overlap"] = "off";
  one.benchmark.device.clear();
  EXPECT_TRUE(of_kind(run, "serial_copies").empty()) << "on the CPU";
}

TEST(Device, CasesOnTheCpuHaveNoFindingsAboutGpus) {
  auto run = h200("study");
  for (auto& one : run.cases) one.benchmark.device.clear(), one.device_p50_ns.value = Number();
  for (const auto* rule : {"idle_tensor_cores", "slow_launches", "contiguous_convolutions", "cudnn_by_rule",
                           "flat_batch", "gain_by_model", "device_slowdown"})
    EXPECT_TRUE(of_kind(run, rule).empty()) << rule;
}

}  // namespace
}  // namespace paceline::analysis
