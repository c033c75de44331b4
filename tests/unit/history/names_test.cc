// SPDX-License-Identifier: MIT
#include "history/names.h"

#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "history_runs.h"

namespace paceline::history {
namespace {

using testing::run_id_of;
using testing::run_of;
using testing::write_run;
namespace fs = std::filesystem;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(RunNames, ATagAPinAndTheBeginningOfAnIdLeadToTheFolder) {
  const ScratchFolder scratch = ScratchFolder::below_temp("names");
  const auto results = fs::canonical(scratch.path());
  const auto first = write_run(results, run_of(0, 1)), second = write_run(results, run_of(70, 1));
  Index(results).set_marks({{{"good", run_id_of(0)}}, {{"base", run_id_of(70)}}, {}, {}});
  const auto find = [&](const std::string& name) {
    return resolve(results, name, [](const std::string&) { FAIL() << testing::kNoWarning; });
  };
  EXPECT_EQ(find("good"), first);
  EXPECT_EQ(find("base"), second);
  EXPECT_EQ(find(run_id_of(70)), second);
  EXPECT_EQ(find("20260101T0110"), second);
  EXPECT_NE(message_of([&] { find("2026"); }).find("beginning of 2 runs"), std::string::npos);
  EXPECT_NE(message_of([&] { find("goof"); }).find("did you mean 'good'?"), std::string::npos);
  fs::remove_all(first);
  EXPECT_NE(message_of([&] { find("good"); }).find("no longer"), std::string::npos);
}

TEST(RunNames, NamesOfMarksAreWords) {
  for (const char* good : {"v1.2", "main", "after_upgrade", "2026-11"})
    EXPECT_NO_THROW(check_mark_name(good));
  for (const char* bad : {"", "-x", "../x", "a b", "a/b", ".hidden"})
    EXPECT_THROW(check_mark_name(bad), Error) << bad;
}

}  // namespace
}  // namespace paceline::history
