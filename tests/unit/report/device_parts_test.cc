// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "report/answer_parts.h"
#include "report/format_table.h"
#include "report/subjects.h"
#include "support/sample_runs.h"

namespace paceline::report {
namespace {

ReportRun run_on_a_device() {
  ReportRun run{testing::sample_run(), {}};
  run.result.cases[0].device_parts = {{"enqueue", 10, 1.1e6, 1.3e6, 1.2e6, Number::missing("pipelined")},
                                      {"compute", 10, 3e6, 3.3e6, 3.2e6, 3.4e6},
                                      {"d2h", 10, 0.1e6, 0.13e6, 0.12e6, 0.14e6}};
  return run;
}

TEST(DevicePartsText, ATextHasMediansAndTailsOfEveryCaseOnADevice) {
  const auto run = run_on_a_device();
  const auto sections = kDeviceParts.of_runs(std::span(&run, 1), Form::kTerminal);
  ASSERT_EQ(sections.size(), 1U);
  const auto text = terminal_of(sections[0].table, {});
  EXPECT_NE(text.find("enqueue  p99  H2D  p99  compute   p99    D2H    p99"), std::string::npos) << text;
  EXPECT_NE(text.find("1.20    –    –    –     3.20  3.40  0.120  0.140"), std::string::npos) << text;
  EXPECT_EQ(sections[0].table.rows.size(), 1U);
  EXPECT_TRUE(kDeviceParts.of_runs(std::span(&run, 1), Form::kPage).empty());
}

TEST(DevicePartsText, TheDetailsOfACaseHaveMinimumAndMean) {
  const auto run = run_on_a_device();
  const auto text = terminal_of(kDeviceParts.of_case(alone(run.result.cases[0])).at(0).table, {});
  EXPECT_NE(text.find("D2H       0.100    0.130      0.120   0.140"), std::string::npos) << text;
  EXPECT_TRUE(kDeviceParts.of_case(alone(run.result.cases[1])).empty());
}

TEST(DevicePartsText, IsInEveryForm) {
  const ReportRun run = run_on_a_device();
  const ReportRun other{testing::sample_run(), {}};
  for (const auto& [form, words] :
       {std::pair{"text", "D2H"}, {"markdown", "D2H"}, {"html", "Parts of an inference"}}) {
    const auto& render = find_format(form).render;
    EXPECT_NE(render(std::span(&run, 1), {}).find(words), std::string::npos) << form;
    EXPECT_EQ(render(std::span(&other, 1), {}).find(words), std::string::npos) << form;
  }
}

}  // namespace
}  // namespace paceline::report
