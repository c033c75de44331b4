// SPDX-License-Identifier: MIT
// Tables of Nsight Compute: what is read of them, and what is said about their kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "nsight/kernel_findings.h"
#include "nsight/kernels.h"

namespace paceline::nsight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

NcuFile parse(const std::string& text) {
  return parse_ncu_csv(text, "k.csv");
}
double value(const KernelLaunch& launch, const std::string& name) {
  return launch.metrics.at(name);
}

constexpr const char* kRaw =
    "==PROF== Connected to process 7\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Device\",\"gpu__time_duration.sum\",\"dram__bytes_read.sum\"\n"
    "\"\",\"\",\"\",\"\",\"us\",\"Mbyte\"\n"
    "\"0\",\"7\",\"void f<int, 3>(int, T1 *)\",\"0\",\"1,234.50\",\"2\"\n"
    "==PROF== Disconnected\n"
    "\"1\",\"7\",\"a \"\"quoted\"\" name\",\"0\",\"10\",\"nan\"\n";

TEST(NcuCsv, TheRawPageIsReadInBaseUnits) {
  const auto file = parse(kRaw);
  ASSERT_EQ(file.launches.size(), 2U);
  EXPECT_EQ(file.launches[0].name, "void f<int, 3>(int, T1 *)");
  EXPECT_DOUBLE_EQ(value(file.launches[0], "gpu__time_duration.sum"), 1234500);
  EXPECT_DOUBLE_EQ(value(file.launches[0], "dram__bytes_read.sum"), 2e6);
  EXPECT_EQ(file.launches[1].name, "a \"quoted\" name");
  EXPECT_FALSE(file.launches[1].metrics.contains("dram__bytes_read.sum"));
  EXPECT_TRUE(file.remarks.empty());
}

TEST(NcuCsv, TheDetailsPageIsReadInAnyOrderOfColumns) {
  const auto file = parse(
      "\"Metric Value\",\"Metric Unit\",\"Metric Name\",\"Section Name\",\"Kernel Name\",\"ID\",\"Process "
      "ID\"\n"
      "\"5,888,384\",\"ns\",\"Duration\",\"GPU Speed Of Light\",\"k\",\"0\",\"1\"\n"
      "\"41.5\",\"%\",\"Memory Throughput\",\"GPU Speed Of Light\",\"k\",\"0\",\"1\"\n"
      "\"1.5\",\"Tbyte/second\",\"Memory Throughput\",\"Memory Workload\",\"k\",\"0\",\"1\"\n"
      "\"\",\"\",\"\",\"Rule\",\"k\",\"0\",\"1\"\n"
      "\"7\",\"us\",\"Duration\",\"GPU Speed Of Light\",\"k\",\"0\",\"2\"\n");
  ASSERT_EQ(file.launches.size(), 2U);  // of two processes
  EXPECT_DOUBLE_EQ(value(file.launches[0], "Duration"), 5888384);
  EXPECT_DOUBLE_EQ(value(file.launches[0], "Memory Throughput"), 41.5);
  EXPECT_DOUBLE_EQ(value(file.launches[0], "Memory Throughput per second"), 1.5e12);
  EXPECT_DOUBLE_EQ(value(file.launches[1], "Duration"), 7000);
}

std::string with_numbers(const std::string& a, const std::string& b) {
  return "\"ID\",\"Kernel Name\",\"m\",\"n\"\n\"\",\"\",\"\",\"\"\n\"0\",\"k\",\"" + a + "\",\"" + b + "\"\n";
}

TEST(NcuCsv, NumbersOfOtherLocalesMeanTheSame) {
  for (const auto& [a, b] :
       {std::pair{"1,234,567", "0.5"}, {"1.234.567", "0,5"}, {"1 234 567", "0,5"}, {"1'234'567", "0.5"}}) {
    const auto file = parse(with_numbers(a, b));
    EXPECT_DOUBLE_EQ(value(file.launches[0], "m"), 1234567) << a;
    EXPECT_DOUBLE_EQ(value(file.launches[0], "n"), 0.5) << b;
  }
  EXPECT_DOUBLE_EQ(value(parse(with_numbers("5,888", "7")).launches[0], "m"), 5888);  // as ncu writes it
  EXPECT_THROW(parse(with_numbers("1,234,567", "1.234.567")), Error);
}

TEST(NcuCsv, ACutFileIsReadUpToItsLastWholeRow) {
  const std::string whole = kRaw;
  for (std::size_t cut = 2; cut < 40; cut += 7) {
    const auto file = parse(whole.substr(0, whole.size() - cut));
    ASSERT_EQ(file.launches.size(), 1U) << cut;
    EXPECT_THAT(file.remarks, ElementsAre(HasSubstr("ends inside a row")));
  }
}

TEST(NcuCsv, LinesOfTheProgramBetweenRowsAreLeftOut) {
  std::string text = kRaw;
  const auto at = text.find("==PROF== Disconnected");
  const auto file =
      parse(text.substr(0, at) + "epoch 1, loss 0.3\n\"1\",\"2\"\nplain words\n" + text.substr(at));
  EXPECT_EQ(file.launches.size(), 2U);
  EXPECT_THAT(file.remarks, ElementsAre("3 lines of another form: left out"));
}

// Three calls, of which the second lacks one of its quotes.
TEST(NcuCsv, AMissingQuoteCostsItsOwnRowOnly) {
  const std::string before = "\"ID\",\"Kernel Name\",\"m\"\n\"0\",\"a\",\"1\"\n",
                    broken = "\"1\",\"b\",\"2\"\n", behind = "\"2\",\"c\",\"3\"\n\"3\",\"d\",\"4\"\n";
  for (std::size_t at = 0; at < broken.size(); ++at) {
    if (broken[at] != '"') continue;
    auto row = broken;
    row.erase(at, 1);
    const auto file = parse(before + row + behind);
    std::vector<std::string> names;
    for (const auto& launch : file.launches) names.push_back(launch.name);
    EXPECT_THAT(names, ElementsAre("a", "c", "d")) << row;
    EXPECT_THAT(file.remarks, ElementsAre("1 row with a missing quote: left out")) << row;
  }
}

TEST(NcuCsv, ALineEndInsideANameIsNoMissingQuote) {
  const auto file = parse("\"ID\",\"Kernel Name\",\"m\"\n\"0\",\"two\nlines\n\"\"quoted\"\"\",\"1\"\n");
  ASSERT_EQ(file.launches.size(), 1U);
  EXPECT_EQ(file.launches[0].name, "two\nlines\n\"quoted\"");
}

// As spreadsheets save it.
TEST(NcuCsv, QuotesAreOnlyNeededWhereACellHasASeparator) {
  for (const std::string s : {",", ";", "\t"}) {
    const auto file =
        parse("sep=" + s + "\r\nID" + s + "Kernel Name" + s + "gpu__time_duration.sum\r\n" + s + s +
              "us\r\n0" + s + "\"f<1" + s + "2>\"" + s + "1.5\r\n1" + s + "g" + s + "2\r\n");
    ASSERT_EQ(file.launches.size(), 2U) << s;
    EXPECT_EQ(file.launches[0].name, "f<1" + s + "2>");
    EXPECT_DOUBLE_EQ(value(file.launches[1], "gpu__time_duration.sum"), 2000);
  }
  const auto german = parse("ID;Kernel Name;m;n\n0;k;1.234.567;0,5\n");
  EXPECT_DOUBLE_EQ(value(german.launches[0], "m"), 1234567);
  EXPECT_DOUBLE_EQ(value(german.launches[0], "n"), 0.5);
}

TEST(NcuCsv, AMarkOfUtf8IsNoPartOfTheFirstName) {
  const std::string text = kRaw;
  const auto table = text.substr(text.find("\"ID\""));
  EXPECT_EQ(parse("\xEF\xBB\xBF" + table).launches.size(), 2U);
  EXPECT_THROW(parse("\"Kernel Name\",\"m\"\n\"k\",\"1\"\n"), Error);
}

TEST(NcuCsv, RefusesOtherTablesWithAdvice) {
  for (const std::string text : {"", "a,b\n1,2\n", "==PROF== nothing\n", "\"ID\",\"Kernel Name\"\n",
                                 "\"ID\",\"Kernel Name\"\n\"\",\"\"\n"})
    EXPECT_THROW(parse(text), Error) << text;
  try {
    parse("a,b\n");
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("--csv --page raw"));
  }
}

KernelLaunch launch(const std::string& name, double time_ns,
                    std::map<std::string, double, std::less<>> metrics) {
  metrics["gpu__time_duration.sum"] = time_ns;
  return {"0", name, "0", "7", std::move(metrics)};
}
std::vector<std::string> sentences(const std::vector<KernelLaunch>& launches) {
  std::vector<std::string> texts;
  for (const auto& f : study_kernels({launches, {}}, "k.csv").findings) texts.push_back(f.text);
  return texts;
}

TEST(Kernels, AreSummedByNameAndWeightedByTime) {
  const auto study = study_kernels(
      {{launch("b", 1e6, {{"sm__warps_active.avg.pct_of_peak_sustained_active", 10}}), launch("a", 2e6, {}),
        launch("b", 3e6, {{"sm__warps_active.avg.pct_of_peak_sustained_active", 50}})},
       {}},
      "k.csv");
  ASSERT_EQ(study.kernels.size(), 2U);
  EXPECT_EQ(study.kernels[0].name, "b");
  EXPECT_EQ(study.kernels[0].launches, 2U);
  EXPECT_NEAR(study.kernels[0].share, 4.0 / 6, 1e-12);
  EXPECT_NEAR(*study.kernels[0].occupancy, 0.4, 1e-12);
  EXPECT_FALSE(study.kernels[1].occupancy);
}

// 10 instructions in each of 1e9 cycles a second; tensor pipes; integers are no floating point.
TEST(Kernels, HaveTheRateOfTheirArithmetic) {
  const auto study =
      study_kernels({{launch("a", 1e6,
                             {{"smsp__cycles_elapsed.avg.per_second", 1e9},
                              {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", 10},
                              {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum.per_cycle_elapsed", 1},
                              {"sm__ops_path_tensor_src_fp16.sum.per_second", 5e9},
                              {"sm__ops_path_tensor_op_hgmma_src_fp16_sparsity_off.sum.per_second", 5e9},
                              {"sm__ops_path_tensor_src_int8.sum.per_second", 7e9},
                              {"dram__bytes.sum.per_second", 2e9}}),
                      launch("b", 1e6, {})},
                     {}},
                    "k.csv");
  EXPECT_DOUBLE_EQ(*study.kernels[0].flops_per_s, 29e9);
  EXPECT_DOUBLE_EQ(*study.kernels[0].bytes_per_s, 2e9);
  EXPECT_FALSE(study.kernels[1].flops_per_s);
}

TEST(Kernels, TensorPipesAreCountedOnceAndInEitherUnit) {
  const auto rate = [](std::map<std::string, double, std::less<>> metrics) {
    return study_kernels({{launch("a", 1e6, std::move(metrics))}, {}}, "k.csv").kernels[0].flops_per_s;
  };
  const std::string fp16 = "sm__ops_path_tensor_src_fp16", each = ".sum.per_cycle_elapsed",
                    second = ".sum.per_second", cycles = "sm__cycles_elapsed.avg.per_second";
  EXPECT_EQ(rate({{fp16 + each, 4000}, {cycles, 1e9}}), 4e12);
  EXPECT_FALSE(rate({{fp16 + each, 4000}})) << "cycles of unknown length";
  EXPECT_EQ(rate({{fp16 + each, 4000}, {fp16 + second, 5e12}, {cycles, 1e9}}), 5e12);
  EXPECT_EQ(rate({{fp16 + second, 5e12},
                  {fp16 + "_sparsity_on" + second, 1e12},
                  {fp16 + "_sparsity_off" + second, 4e12}}),
            5e12);
  EXPECT_EQ(rate({{fp16 + "_sparsity_on" + second, 1e12}, {fp16 + "_sparsity_off" + second, 4e12}}), 5e12);
  const std::map<std::string, double, std::less<>> threads = {
      {"smsp__cycles_elapsed.avg.per_second", 1e9},
      {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", 10}};
  auto with_tensor = threads;
  with_tensor["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"] = 60;
  EXPECT_EQ(rate(threads), 20e9);
  EXPECT_FALSE(rate(with_tensor)) << "most of its arithmetic was not counted";
}

TEST(Kernels, WithoutATimeAreRefused) {
  EXPECT_THROW(study_kernels({{launch("a", 0, {}), launch("b", -5, {})}, {}}, "k.csv"), Error);
  EXPECT_EQ(study_kernels({{launch("a", 3, {}), launch("b", -5, {})}, {}}, "k.csv").kernels.size(), 1U);
}

TEST(Kernels, TheCauseThatExplainsTheOthersIsNamed) {
  constexpr const char *kTensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
                       *kSm = "sm__throughput.avg.pct_of_peak_sustained_elapsed",
                       *kDram = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
                       *kWaves = "launch__waves_per_multiprocessor",
                       *kLong = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
                       *kSelected = "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio";
  EXPECT_THAT(sentences({launch("sgemm_128", 1e6, {{kTensor, 0}, {kSm, 90}})}),
              ElementsAre(HasSubstr("without the tensor cores")));
  EXPECT_THAT(sentences({launch("sgemm_128", 1e6, {{kTensor, 50}, {kSm, 90}})}),
              ElementsAre(HasSubstr("bound by arithmetic")));
  EXPECT_THAT(sentences({launch("copy", 1e6, {{kTensor, 0}, {kSm, 20}, {kDram, 85}})}),
              ElementsAre(HasSubstr("bound by memory")));
  EXPECT_THAT(sentences({launch("copy", 1e6, {{kSm, 5}, {kWaves, 0.3}})}),
              ElementsAre(HasSubstr("too few blocks")));
  EXPECT_THAT(sentences({launch("copy", 1e6, {{kSm, 5}, {kWaves, 3}, {kLong, 9}, {kSelected, 99}})}),
              ElementsAre(HasSubstr("waits for data of L1, L2 or DRAM")));
  EXPECT_THAT(sentences({launch("copy", 1e6, {{kSm, 5}, {kWaves, 3}})}), ElementsAre());
}

TEST(Kernels, BankConflictsAndShortLaunchesAreNamed) {
  EXPECT_THAT(sentences({launch("k", 1e6,
                                {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 30},
                                 {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 100}})}),
              ElementsAre(HasSubstr("banks of shared memory")));
  EXPECT_THAT(sentences({launch("big", 1e4, {}), launch("small", 2e3, {}), launch("small", 2e3, {})}),
              ElementsAre(HasSubstr("2 calls of less than 5.00 µs take 29 % of the time")));
}

TEST(Kernels, NamesAreShortForPeople) {
  EXPECT_EQ(short_name("void at::<unnamed>::max_pool_forward_nchw<float, int>(T2, const T1 *)"),
            "at::max_pool_forward_nchw");
  EXPECT_EQ(short_name("sm90_xmma_fprop_kernel__5x_cudnn"), "sm90_xmma_fprop_kernel__5x_cudnn");
  EXPECT_EQ(short_name("(anonymous namespace)::k<3>(int)"), "(anonymous namespace)::k");
}

}  // namespace
}  // namespace paceline::nsight
