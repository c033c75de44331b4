// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "analysis/findings.h"
#include "support/sample_runs.h"

namespace paceline::analysis {
namespace {

using result::RunResult;
using result::TwoStates;

std::string text_of(TwoStates states) {
  RunResult run;
  run.cases = {testing::case_of({"m.onnx", "onnxruntime", "fp32", 1, 1.5, 300})};
  run.cases[0].two_states = std::move(states);
  const auto found = find_two_states(run);
  return found.size() == 1 ? found[0].text.substr(found[0].text.find("the times")) : "";
}

TEST(TwoStatesFinding, NamesWhatTellsThemApart) {
  EXPECT_EQ(text_of({1e6, 2e6, 0.4, false, {{"SM clock", "MHz", 1980, 1200}}, {"power"}, ""}),
            "the times have two states, 1.00 ms (60 %) and 2.00 ms (40 %). They differ in SM clock (1980 MHz "
            "in the fast one, "
            "1200 MHz in the slow one).");
}

TEST(TwoStatesFinding, SaysThatNothingDoes) {
  EXPECT_EQ(
      text_of({1e6, 2e6, 0.4, false, {}, {"SM clock", "power"}, ""}),
      "the times have two states, 1.00 ms (60 %) and 2.00 ms (40 %). Nothing that was read tells them apart: "
      "SM clock, power.");
  EXPECT_EQ(
      text_of({1e6, 2e6, 0.4, false, {}, {}, "nothing was read beside the samples"}),
      "the times have two states, 1.00 ms (60 %) and 2.00 ms (40 %). What tells them apart is not known: "
      "nothing was read beside the samples.");
}

TEST(TwoStatesFinding, CloseOrRareModesAreNone) {
  EXPECT_EQ(text_of({1e6, 1.05e6, 0.4}), "");
  EXPECT_EQ(text_of({1e6, 2e6, 0.05}), "");
}

}  // namespace
}  // namespace paceline::analysis
