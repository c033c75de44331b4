// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "base/npy.h"
#include "base/tensor.h"
#include "workload/run_pass.h"

// Passes with an engine that leaves its outputs on a device (io: none): the outputs are brought where they
// are compared, in no timed iteration.
namespace paceline::workload {
namespace {

namespace fs = std::filesystem;

// Keeps what a pass says.
class Collected : public pass::RecordSink {
 public:
  void emit(const nlohmann::json& record) override { records.push_back(record); }
  [[nodiscard]] nlohmann::json last(const std::string& type) const {
    nlohmann::json found;
    for (const auto& record : records)
      if (record.at("type") == type) found = record;
    return found;
  }
  std::vector<nlohmann::json> records;
};

class KeptOutputs : public ::testing::TestWithParam<Scenario> {
 protected:
  void SetUp() override {
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '-');
    folder_ = fs::path(::testing::TempDir()) / ("kept_outputs-" + name);  // tests may run at the same time
    fs::create_directories(folder_);
    spec_.use(plugin::Role::kEngine, "spin", SPIN_PLUGIN_FILE);
    spec_.settings.options["io"] = "none";
    spec_.model.inputs = {{"x", DType::kFloat32, {1, 4}}};
    spec_.inference.input_files = {write("input.npy", {1, 4})};
    spec_.inference.reference_file =
        write("reference.npy", {1, 1, 4});  // the engine's sums of one element each
    spec_.inference.reference_name = "by hand";
    spec_.inference.tolerance = {1e-6, 0.999, 0};
    spec_.loop.warmup.mode = stats::WarmupMode::kFixed;
    spec_.loop.warmup.fixed_iterations = 1;
    spec_.loop.stop.n_min = 5;
    spec_.loop.stop.t_min_ns = 1'000'000;
    spec_.loop.stop.t_max_ns = 100'000'000;
    spec_.loop.iterations = 5;
    spec_.inference.load.scenario = GetParam();
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, const Shape& shape) {
    std::vector<float> values{1, 2, 3, 4};
    write_npy(folder_ / name, {"x", values.data(), DType::kFloat32, shape, {}, {}});
    return (folder_ / name).string();
  }
  nlohmann::json correctness_of(pass::PassKind kind) {
    spec_.kind = kind;
    Collected sink;
    run_pass(spec_, sink, interrupt_);
    return sink.last(kind == pass::PassKind::kCheck ? "check" : "correctness");
  }
  fs::path folder_;
  pass::PassSpec spec_;
  std::atomic<bool> interrupt_ = false;
};

TEST_P(KeptOutputs, AreComparedAfterTheTimedLoop) {
  const auto found = correctness_of(pass::PassKind::kTimed).at("correctness");
  EXPECT_EQ(found.at("checked"), true) << found;
  EXPECT_EQ(found.at("passed"), true) << found;
  EXPECT_EQ(found.at("reference"), "by hand");
}

TEST_P(KeptOutputs, AreComparedInTheCheck) {
  const auto found = correctness_of(pass::PassKind::kCheck).at("correctness");
  EXPECT_EQ(found.at("passed"), true) << found;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, KeptOutputs, ::testing::Values(Scenario::kSync, Scenario::kClosedLoop));

}  // namespace
}  // namespace paceline::workload
