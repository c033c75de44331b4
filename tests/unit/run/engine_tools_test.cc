// SPDX-License-Identifier: MIT
#include "run/inference/engine_tools.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"

namespace paceline::run {
namespace {
namespace fs = std::filesystem;

class EngineTools : public ::testing::Test {
 protected:
  EngineTools() {
    order_.folder = temp_dir() / ("paceline-engine-tools-" + std::to_string(::getpid()));
    make_directories(order_.folder);
    order_.model_file = "/models/m.onnx";
    order_.inputs = {{"input", DType::kFloat32, {8, 3, 32, 32}}, {"ids", DType::kInt64, {8, 16}}};
    order_.input_files = {"/tmp/a.npy", "/tmp/b.npy"};
    order_.settings.threads = 2;
    order_.iterations = 40;
  }
  ~EngineTools() override {
    std::error_code ignored;
    fs::remove_all(order_.folder, ignored);
  }
  // Value of a flag in the arguments for benchmark_app; "-" if it is missing.
  std::string flag(const std::string& name) {
    const auto words = openvino_.arguments(order_);
    const auto it = std::find(words.begin(), words.end(), name);
    return it == words.end() ? "-" : *std::next(it);
  }
  void report(const std::string& text) { write_file_atomic(order_.folder / "benchmark_report.json", text); }
  std::string problem(const std::string& output = "") {
    try {
      openvino_.read(order_, output);
      return "none";
    } catch (const Error& e) {
      return e.what();
    }
  }

  ToolOrder order_;
  const EngineTool& openvino_ = *find_engine_tool("openvino");
  const EngineTool& onnxruntime_ = *find_engine_tool("onnxruntime");
};

TEST_F(EngineTools, BenchmarkAppGetsOurSettings) {
  EXPECT_EQ(flag("-m"), "/models/m.onnx");
  EXPECT_EQ(flag("-nthreads"), "2");
  EXPECT_EQ(flag("-niter"), "40");
  EXPECT_EQ(flag("-nstreams"), "1");
  EXPECT_EQ(flag("-shape"), "input[8,3,32,32],ids[8,16]");
  EXPECT_EQ(flag("-iop"), "input:f32");  // bytes otherwise
  EXPECT_EQ(flag("-i"), "input:/tmp/a.npy,ids:/tmp/b.npy");
  EXPECT_EQ(flag("-pin"), "-");
  order_.settings.options = {{"num_streams", "2"}, {"cpu_pinning", "false"}};
  EXPECT_EQ(flag("-nstreams"), "2");
  EXPECT_EQ(flag("-pin"), "NO");
  for (const auto& [precision, word] :
       {std::pair{"fp32", "f32"}, {"bf16", "bf16"}, {"fp16", "f16"}, {"int8", "f32"}}) {
    order_.settings.precision = precision;
    EXPECT_EQ(flag("-infer_precision"), word);
  }
}

TEST_F(EngineTools, LeavesOutFlagsThatItsSyntaxCannotExpress) {
  order_.inputs[0].name = "in/put:0";
  EXPECT_EQ(flag("-i"), "-");
  order_.inputs[0].name = "input";
  order_.input_files[1] = "/tmp/a,b.npy";
  EXPECT_EQ(flag("-i"), "-");
  order_.model_file = "/models/m.blob";
  EXPECT_EQ(flag("-shape"), "-");
}

TEST_F(EngineTools, BenchmarkAppsReportIsRead) {
  report(R"j({"execution_results": {"latency (ms)": "10.71"}})j");
  const auto figures = openvino_.read(order_, "[ INFO ] Build ............... 2026.4.1-22-abc\n");
  EXPECT_DOUBLE_EQ(figures.p50_ns, 10.71e6);
  EXPECT_DOUBLE_EQ(figures.resolution_ns, 5e3);
  EXPECT_EQ(figures.version, "2026.4.1-22-abc");
}

TEST_F(EngineTools, BelowAMillisecondItsOutputIsFiner) {
  report(R"j({"execution_results": {"latency (ms)": "0.01"}})j");
  const auto figures = openvino_.read(order_, "[ INFO ]    Median:        12.34 us\n");
  EXPECT_DOUBLE_EQ(figures.p50_ns, 12.34e3);
  EXPECT_DOUBLE_EQ(figures.resolution_ns, 5);
}

TEST_F(EngineTools, NamesMissingOutput) {
  EXPECT_EQ(problem(), "it wrote no benchmark_report.json");
  report("half a rep");
  EXPECT_EQ(problem(), "its benchmark_report.json is no JSON object");
  report("{}");
  EXPECT_EQ(problem(), "its benchmark_report.json has no 'latency (ms)'");
  report(R"j({"execution_results": {"latency (ms)": "0.00"}})j");
  EXPECT_EQ(problem(), "it says \"0.00\" ms");
}

TEST_F(EngineTools, ThePythonLoopGetsAnOrderAndGivesSamples) {
  const auto words = onnxruntime_.arguments(order_);
  ASSERT_EQ(words.size(), 2U);
  EXPECT_NE(read_file(words[0]).find("session.run(None, feed)"), std::string::npos);
  const auto order = nlohmann::json::parse(read_file(words[1]));
  EXPECT_EQ(order.at("inputs").at("ids"), "/tmp/b.npy");
  EXPECT_EQ(order.at("threads"), 2);
  write_file_atomic(order.at("out").get<std::string>(), R"({"version": "1.2", "samples_ns": [5, 1, 3]})");
  const auto figures = onnxruntime_.read(order_, "");
  EXPECT_DOUBLE_EQ(figures.p50_ns, 3);
  EXPECT_EQ(figures.version, "1.2");
  write_file_atomic(order.at("out").get<std::string>(), R"({"samples_ns": []})");
  EXPECT_THROW(onnxruntime_.read(order_, ""), Error);
}

TEST_F(EngineTools, EnginesWithoutOneSaySo) {
  EXPECT_EQ(find_engine_tool("eager"), nullptr);
  EXPECT_NE(no_tool_reason("torchscript").find("tools/compare_pytorch.py"), std::string::npos);
  EXPECT_EQ(no_tool_reason("spin"), "no tool of engine 'spin' is known here");
}

}  // namespace
}  // namespace paceline::run
