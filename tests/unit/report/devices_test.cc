// SPDX-License-Identifier: MIT
// The line of a case about its GPU, and the memory of both places.
#include <gtest/gtest.h>

#include <algorithm>

#include "report/case_cells.h"
#include "report/format_table.h"
#include "report/subjects.h"
#include "support/sample_runs.h"

namespace paceline::report {
namespace {

result::DeviceState capped() {
  result::DeviceState state;
  state.device = "cuda:0";
  state.sm_clock_mean_mhz = 1755.2, state.sm_clock_min_mhz = 1620.0;
  state.power_mean_w = 512.4, state.power_max_w = 698.0;
  state.slowdown_read = true, state.slowdowns = {{"power cap", 0.5}, {"thermal slowdown", 0.012}};
  state.energy_per_item_j = 0.213, state.energy_window_s = 12.0;
  return state;
}

CaseResult on_gpu(double device_share) {
  auto one = testing::sample_run().cases.at(0);
  one.benchmark.device = "cuda:0";
  one.throughput.item = "images";
  one.headline.p50_ns.value = 10e6;
  one.device_p50_ns.value = device_share * 10e6;
  one.memory.tensor_peak_bytes = 490'000'000, one.memory.reserved_peak_bytes = 738'000'000;
  one.memory.rss_peak_above_load_bytes = 424'000'000;
  return one;
}

std::string line_of(const CaseResult& one) {
  return kDevices.of_case(alone(one)).at(0).paragraphs.at(0);
}

TEST(DeviceLine, SaysWhatTheDeviceDid) {
  auto one = on_gpu(0.997);
  one.devices = {capped()};
  EXPECT_EQ(line_of(one),
            "the device decides: 99.7 % of the wall time; cuda:0: 1755 MHz (lowest 1620), 512 W (highest "
            "698), power cap "
            "in 50 % of the samples, thermal slowdown in 1.2 % of the samples, 0.21 J per image");
  one.devices[0].utilization_mean = 0.934;
  EXPECT_NE(line_of(one).find("; cuda:0: busy 93 %, 1755 MHz"), std::string::npos) << line_of(one);
  one.devices[0].utilization_mean = Number::missing("not read");
  one.devices[0].energy_window_s = 3.14;
  one.devices[0].slowdowns.clear();
  one.devices[0].temperature_max_c = 71.0, one.devices[0].other_processes = 2;
  one.device_p50_ns.value = 6.1e6;
  EXPECT_EQ(line_of(one),
            "the host decides: device time is 61.0 % of the wall time; cuda:0: 1755 MHz (lowest 1620), 512 W "
            "(highest "
            "698), 0.21 J per image (over 3.1 s only), at most 71 °C, 2 processes of others");
}

TEST(CaseTable, HasHowBusyGpusWereWhereASamplerReadIt) {
  ReportRun run{testing::sample_run(), {}};
  run.result.cases = {on_gpu(0.99), on_gpu(0.99)};
  const auto heads = [&] { return case_table(std::span(&run, 1), Form::kMarkdown).heads; };
  EXPECT_EQ(std::ranges::count(heads(), "GPU busy"), 0);
  run.result.cases[0].devices = {capped()};
  run.result.cases[0].devices[0].utilization_mean = 0.934;
  ASSERT_EQ(std::ranges::count(heads(), "GPU busy"), 1);
  const auto table = case_table(std::span(&run, 1), Form::kMarkdown);
  const auto column =
      static_cast<std::size_t>(std::ranges::find(table.heads, "GPU busy") - table.heads.begin());
  EXPECT_EQ(table.rows.at(0).cells.at(column).text, "93 %");
  EXPECT_EQ(table.rows.at(1).cells.at(column).text, kNone);
  run.result.cases[0].benchmark.device.clear();  // nothing ran on its GPU
  EXPECT_EQ(std::ranges::count(heads(), "GPU busy"), 0);
}

TEST(DeviceLine, EnergyStandsWithAndWithoutIdle) {
  auto one = on_gpu(0.997);
  one.devices = {capped()};
  one.devices[0].idle_power_w = 75.2, one.devices[0].energy_above_idle_per_item_j = 0.182;
  EXPECT_NE(line_of(one).find(", 0.21 J per image, 0.18 above 75 W of idle"), std::string::npos);
}

TEST(CpuPowerLine, SaysWhoseEnergyItIs) {
  auto one = testing::sample_run().cases.at(0);
  one.throughput.item = "images";
  EXPECT_TRUE(kCpuPower.of_case(alone(one)).empty());
  auto& cpu = one.cpu_power.emplace_back();
  cpu.part = result::kCpuPackages, cpu.scope = "packages 0+1 of the whole machine";
  cpu.power_mean_w = 182.2, cpu.power_max_w = 201.0, cpu.idle_power_w = 60.0;
  cpu.energy_per_item_j = 0.61, cpu.energy_above_idle_per_item_j = 0.41, cpu.energy_window_s = 3.2;
  auto& memory = one.cpu_power.emplace_back();
  memory.part = result::kCpuMemory, memory.rank = 4;
  memory.power_mean_w = Number::missing("the energy counter has gaps");
  EXPECT_EQ(kCpuPower.of_case(alone(one)).at(0).paragraphs.at(0),
            "CPU: 182 W (highest 201), 0.61 J per image, 0.41 above 60 W of idle (over 3.2 s only); packages "
            "0+1 of the whole machine; memory of rank 4's host: the energy counter has gaps");
  ReportRun run{testing::sample_run(), {}};
  run.result.cases = {one};
  const auto rows = kCpuPower.of_runs(std::span(&run, 1), Form::kPage).at(0).table.rows;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].cells[5].text, "0.610 (over 3.2 s only)");
}

TEST(DeviceLine, IsInEveryForm) {
  ReportRun run{testing::sample_run(), {}};
  run.result.cases = {on_gpu(0.997), on_gpu(0.98)};
  run.result.cases[1].case_id += "-2";
  run.result.cases[0].devices = {capped()};
  for (const char* form : {"text", "markdown", "html"}) {
    const auto text = find_format(form).render(std::span(&run, 1), {});
    EXPECT_NE(text.find("1755 MHz"), std::string::npos) << form << text;
    EXPECT_NE(text.find("98.0 % of"), std::string::npos) << form;
    EXPECT_NE(text.find("host memory"), std::string::npos) << form;
    EXPECT_NE(text.find("424 MB"), std::string::npos) << form;
  }
}

TEST(DeviceLine, ThePageHasATableOfDevices) {
  ReportRun run{testing::sample_run(), {}};
  run.result.cases = {on_gpu(0.997)};
  EXPECT_TRUE(kDevices.of_runs(std::span(&run, 1), Form::kPage).empty());
  run.result.cases[0].devices = {capped()};
  run.result.cases[0].devices[0].idle_power_w = 75.0;
  const auto sections = kDevices.of_runs(std::span(&run, 1), Form::kPage);
  ASSERT_EQ(sections.size(), 1U);
  std::vector<std::string> texts;
  for (const auto& cell : sections[0].table.rows.at(0).cells) texts.push_back(cell.text);
  EXPECT_EQ(texts, (std::vector<std::string>{run.result.cases[0].label, "cuda:0", kNone, "1755", "1620",
                                             "512", "698", "75", "0.213", "50.0 %", "1.2 %", kNone}));
}

TEST(DeviceLine, CasesOnTheCpuHaveNone) {
  const ReportRun run{testing::sample_run(), {}};
  EXPECT_TRUE(kDevices.of_case(alone(run.result.cases[0])).empty());
  EXPECT_TRUE(kDevices.of_runs(std::span(&run, 1), Form::kTerminal).empty());
  EXPECT_EQ(decides_text(run.result.cases[0]), "");
  EXPECT_EQ(find_format("text").render(std::span(&run, 1), {}).find("host memory"), std::string::npos);
}

}  // namespace
}  // namespace paceline::report
