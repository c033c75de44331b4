// SPDX-License-Identifier: MIT
// A plan that the coordinator runs on passes that are played, in a folder that goes with the test.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>

#include "base/scratch_folder.h"
#include "result/run_directory.h"
#include "run/coordinator.h"
#include "support/fake_executor.h"

namespace paceline::run {

// A case for each batch, and the first two of them.
inline std::string plan_of_batches(const std::string& batches, int repetitions) {
  return "kind: inference\nmodel: tiny_cnn\nengine: eager\nbatch_sizes: " + batches +
         "\nrepetitions: " + std::to_string(repetitions) + "\nidle_wait_s: 0\n";
}
inline constexpr const char* kB1 = "tiny_cnn-eager-fp32-b1";
inline constexpr const char* kB2 = "tiny_cnn-eager-fp32-b2";

class Notes : public RunObserver {
 public:
  void warning(const std::string& words) override { warnings.push_back(words); }
  void notice(const std::string& words) override { notices.push_back(words); }
  void case_ends(const result::CaseResult& r) override { ended.push_back(r.case_id); }
  void pass_begins(const PassInfo& pass) override {
    if (pass.kind == "timed") timed.push_back(pass);
  }
  std::vector<std::string> warnings, notices, ended;
  void pass_timed(const PassTimes& times) override { times_of_passes.push_back(times); }
  std::vector<PassInfo> timed;  // that have begun
  std::vector<PassTimes> times_of_passes;
};

class Coordinated : public ::testing::Test {
 protected:
  static EngineDirectory engines() {
    return EngineDirectory(
        {{"torch",
          "torch.so",
          {{plugin::Role::kEngine, "eager", "cpu"}, {plugin::Role::kTrainer, "cpu", "cpu"}},
          {},
          "",
          ""}});
  }

  static RunSetup setup_of(const std::string& plan, std::set<std::string> only = {},
                           Launch* launch = nullptr) {
    const auto read = config::load_plan_text(plan, "test.yaml");
    return {read,
            config::expand(read),
            std::move(only),
            false,
            false,
            engines(),
            {},
            {},
            nlohmann::json::object(),
            {},
            launch};
  }

  result::RunResult run(RunSetup setup, testing::FakeExecutor& fake) {
    result::RunDirectory directory(folder(), setup.cases.size() == 1 ? result::CaseFiles::kBesideSummary
                                                                     : result::CaseFiles::kInFolders);
    return run_plan(std::move(setup), directory, notes_, interrupt_, fake);
  }
  result::RunResult run(const std::string& plan, testing::FakeExecutor& fake, std::set<std::string> only = {},
                        bool resume = false) {
    auto setup = setup_of(plan, std::move(only));
    if (resume) setup.previous = result::read_run(folder());
    return run(std::move(setup), fake);
  }
  [[nodiscard]] std::filesystem::path folder() const { return scratch_.path() / "run"; }

  ScratchFolder scratch_ = ScratchFolder::below_temp("paceline-coordinated");
  std::atomic<bool> interrupt_{false};
  Notes notes_;
};

inline const result::CaseResult& case_named(const result::RunResult& run, const std::string& id) {
  return *std::find_if(run.cases.begin(), run.cases.end(), [&](const auto& c) { return c.case_id == id; });
}

inline int count_of(const testing::FakeExecutor& fake, const std::string& words) {
  const auto all = fake.order();
  return static_cast<int>(std::count_if(all.begin(), all.end(),
                                        [&](const auto& w) { return w.find(words) != std::string::npos; }));
}

}  // namespace paceline::run
