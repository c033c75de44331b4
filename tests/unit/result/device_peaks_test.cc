// SPDX-License-Identifier: MIT
#include "result/stored/device_peaks.h"

#include <gtest/gtest.h>

#include "result/stored/result_json.h"

namespace paceline::result {
namespace {

DevicePeak peak(const char* operation, const char* variant, Number per_s) {
  return {operation, variant, per_s, 0.01, 10, "8192 x 8192 x 8192"};
}

TEST(DevicePeaks, AFigureIsTheMedianOfItsRepetitions) {
  const auto one =
      summarize_peak(kProduct, "bf16", "4096 x 4096 x 4096", 2e9, {900, 1000, 1100, 1000, 50'000});
  EXPECT_DOUBLE_EQ(*one.per_s, 2e15);
  EXPECT_NEAR(*one.spread, 0.1, 1e-12);
  EXPECT_EQ(one.n, 5);
  EXPECT_FALSE(summarize_peak(kProduct, "bf16", "", 1, {1, 2}).spread) << "two repetitions have no quartiles";
  const auto none = summarize_peak(kProduct, "fp8", "no hardware for it", 1, {});
  EXPECT_EQ(none.per_s.reason(), "no hardware for it");
}

TEST(DevicePeaks, TheFasterSizeStaysWithItsDatasheet) {
  DevicePeaks all;
  keep_faster(all, peak(kProduct, "bf16", Number::missing("not measured yet")));
  all.peaks[0].datasheet_per_s = 989.5e12;
  keep_faster(all, peak(kProduct, "bf16", Number::missing("cuBLAS refused it")));
  EXPECT_EQ(all.peaks[0].per_s.reason(), "cuBLAS refused it") << "the newest reason";
  EXPECT_EQ(all.peaks[0].datasheet_per_s, Number(989.5e12));
  keep_faster(all, peak(kProduct, "bf16", 500e12));
  keep_faster(all, peak(kProduct, "bf16", 640e12));
  keep_faster(all, peak(kProduct, "bf16", 620e12));
  keep_faster(all, peak(kProduct, "bf16", Number::missing("out of memory")));
  keep_faster(all, peak(kProduct, "fp32", 52e12));
  ASSERT_EQ(all.peaks.size(), 2U);
  EXPECT_EQ(all.peaks[0].per_s, Number(640e12));
  EXPECT_EQ(all.peaks[0].datasheet_per_s, Number(989.5e12));
}

TEST(DevicePeaks, ThePeakOfAPrecisionIsTheBetterOfProductAndConvolution) {
  DevicePeaks all;
  all.peaks = {peak(kProduct, "fp16", 640e12), peak(kConvolution, "fp16", 660e12),
               peak(kCopy, kWithinDevice, 4.2e12), peak(kProduct, "fp8", Number::missing("no hardware"))};
  EXPECT_EQ(best_peak(all, "fp16")->operation, kConvolution);
  EXPECT_EQ(best_peak(all, "fp8"), nullptr);
  EXPECT_EQ(best_peak(all, "within_device"), nullptr);
  EXPECT_EQ(find_peak(all, kCopy, kWithinDevice)->per_s, Number(4.2e12));
  EXPECT_FALSE(datasheet_peak(all, "fp16"));
}

TEST(DevicePeaks, ArithmeticIsThatOfThePrecisionWithoutItsCasts) {
  EXPECT_EQ(arithmetic_of("amp"), "fp16");
  EXPECT_EQ(arithmetic_of("amp_bf16"), "bf16");
  EXPECT_EQ(arithmetic_of("tf32"), "tf32");
}

TEST(DevicePeaks, AreStoredWithTheirCase) {
  CaseResult one;
  one.device_peaks.emplace();
  one.device_peaks->device = "NVIDIA H200";
  one.device_peaks->measured_utc = Maybe<std::string>::missing("not asked for");
  one.device_peaks->peaks = {peak(kProduct, "fp16", 640e12)};
  one.flops.flops_per_byte = 12.5;
  const auto back = case_from_json(to_json(one), "test");
  ASSERT_TRUE(back.device_peaks);
  EXPECT_EQ(back.device_peaks->device, "NVIDIA H200");
  EXPECT_EQ(back.device_peaks->measured_utc.reason(), "not asked for");
  ASSERT_EQ(back.device_peaks->peaks.size(), 1U);
  EXPECT_EQ(back.device_peaks->peaks[0].per_s, Number(640e12));
  EXPECT_EQ(back.flops.flops_per_byte, Number(12.5));
  EXPECT_FALSE(case_from_json(to_json(CaseResult()), "test").device_peaks);
}

}  // namespace
}  // namespace paceline::result
