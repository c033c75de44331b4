// SPDX-License-Identifier: MIT
#include "run/case/gpu_peaks.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "run/case/datasheets.h"

namespace paceline::run {
namespace {

constexpr const char* kHead = "device,fp32,tf32,fp16,bf16,fp8,int8,memory_gb_per_s,source\n";

result::DevicePeaks h200() {
  result::DevicePeaks peaks;
  peaks.device = "NVIDIA H200", peaks.driver = "580.65.06", peaks.power_limit_w = 700.0;
  peaks.measured_utc = std::string("2026-11-27T12:00:00Z");
  peaks.peaks = {{"product", "fp16", 640e12, 0.01, 40, "8192 x 8192 x 8192", 989.5e12},
                 {"product", "fp8", Number::missing("cuBLAS refused it"), {}, 0, "cuBLAS refused it"}};
  return peaks;
}

TEST(Datasheets, TheTableInTheRepositoryIsRead) {
  const auto table =
      parse_datasheets(read_file(PACELINE_SOURCE_DIR "/share/device_peaks.csv"), "share/device_peaks.csv");
  EXPECT_GE(table.size(), 10U);
  result::DevicePeaks peaks;
  peaks.device = "NVIDIA H200";
  add_datasheet(peaks, table);
  EXPECT_EQ(result::datasheet_peak(peaks, "bf16"), Number(989.5e12));
  EXPECT_EQ(result::find_peak(peaks, result::kCopy, result::kWithinDevice)->datasheet_per_s, Number(4.8e12));
  EXPECT_FALSE(result::best_peak(peaks, "bf16")) << "a datasheet is no measurement";
  for (const auto& sheet : table) {
    EXPECT_FALSE(sheet.source.empty()) << sheet.device;
    EXPECT_FALSE(sheet.flops_per_s.empty()) << sheet.device;
  }
}

TEST(Datasheets, AnUnknownDeviceHasNone) {
  result::DevicePeaks peaks;
  peaks.device = "NVIDIA H20";
  add_datasheet(peaks, parse_datasheets(kHead + std::string("NVIDIA H200,67,,,,,,4800,x\n"), "t.csv"));
  EXPECT_TRUE(peaks.peaks.empty());
}

TEST(Datasheets, AnEmptyCellIsNotKnownAndAWrongOneIsRefused) {
  const auto table = parse_datasheets("# mine\n" + std::string(kHead) + "T,8.1,,65,,,130,,x\n", "t.csv");
  ASSERT_EQ(table.size(), 1U);
  EXPECT_EQ(table[0].flops_per_s.size(), 3U);
  EXPECT_FALSE(table[0].memory_bytes_per_s);
  for (const std::string row : {"T,8.1,,65\n", "T,fast,,65,,,130,320,x\n", "T,-1,,65,,,130,320,x\n"}) {
    try {
      (void)parse_datasheets(kHead + row, "t.csv");
      FAIL() << row;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("t.csv:2"), std::string::npos) << e.what();
    }
  }
  EXPECT_THROW((void)parse_datasheets("device,fp32\n", "t.csv"), Error);
}

TEST(GpuPeaks, ACaseHasThePeakOfItsPrecisionTimesItsGpus) {
  result::CaseResult one;
  one.benchmark.precision = "amp";
  const auto peaks = h200();
  use_peaks(one, {&peaks, &peaks});
  EXPECT_EQ(one.flops.peak_measured_flops_per_s, Number(1280e12));
  EXPECT_EQ(one.flops.peak_datasheet_flops_per_s, Number(1979e12));
  EXPECT_EQ(
      one.flops.peak_source,
      "2 times product fp16 (8192 x 8192 x 8192) on NVIDIA H200 (driver 580.65.06, 700 W), median of 40, "
      "measured 2026-11-27T12:00:00Z");
  EXPECT_EQ(one.device_peaks->device, "NVIDIA H200");
}

// The probe measured 640 TFLOP/s, and a case has raised that to 900.
TEST(GpuPeaks, ACaseRaisesAPeakByWhatTheProbeMeasuredAndTheDatasheetSays) {
  auto peaks = h200();
  ProbedRates probed;
  for (const auto& peak : peaks.peaks) keep_probed(probed, peak);
  EXPECT_EQ(probed, (ProbedRates{{"product fp16", 640e12}}));
  peaks.peaks[0].per_s = 900e12, peaks.peaks[0].n = 0;
  keep_probed(probed, peaks.peaks[0]);
  EXPECT_TRUE(may_raise_peak(peaks, probed, "fp16", 980e12));
  EXPECT_FALSE(may_raise_peak(peaks, probed, "fp16", 1000e12)) << "above the datasheet";
  peaks.peaks[0].datasheet_per_s = Number::missing("no row for it");
  EXPECT_TRUE(may_raise_peak(peaks, probed, "fp16", 1270e12));
  EXPECT_FALSE(may_raise_peak(peaks, probed, "fp16", 1290e12)) << "twice what the probe measured";
  EXPECT_FALSE(may_raise_peak(peaks, {}, "fp16", 910e12)) << "it is not known what a probe measured";
}

TEST(GpuPeaks, UnlikeGpusAddUp) {
  result::CaseResult one;
  one.benchmark.precision = "fp16";
  const auto fast = h200();
  auto slow = h200();
  slow.device = "NVIDIA A100", slow.peaks[0].per_s = 250e12;
  slow.peaks[0].datasheet_per_s = Number::missing("no row for it");
  use_peaks(one, {&fast, &slow, &fast});
  EXPECT_EQ(one.flops.peak_measured_flops_per_s, Number(1530e12));
  EXPECT_EQ(one.flops.peak_datasheet_flops_per_s.reason(), "no row for it");
  EXPECT_EQ(one.flops.peak_source.find("2 times product fp16 (8192 x 8192 x 8192) on NVIDIA H200"), 0U);
  EXPECT_NE(one.flops.peak_source.find("; product fp16 (8192 x 8192 x 8192) on NVIDIA A100"),
            std::string::npos);
}

TEST(GpuPeaks, MissingPeaksHaveTheirReason) {
  result::CaseResult one;
  one.benchmark.precision = "fp8";
  auto peaks = h200();
  use_peaks(one, {&peaks});
  EXPECT_EQ(one.flops.peak_measured_flops_per_s.reason(), "cuBLAS refused it");
  EXPECT_TRUE(one.flops.peak_source.empty());
  one.benchmark.precision = "int4";
  use_peaks(one, {&peaks});
  EXPECT_EQ(one.flops.peak_measured_flops_per_s.reason(), "no probe measures products in int4");
  peaks.peaks.clear();
  peaks.measured_utc = Maybe<std::string>::missing("not measured yet");
  use_peaks(one, {&peaks});
  EXPECT_EQ(one.flops.peak_measured_flops_per_s.reason(), "not measured yet");
}

}  // namespace
}  // namespace paceline::run
