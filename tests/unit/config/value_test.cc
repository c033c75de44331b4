// SPDX-License-Identifier: MIT
#include "config/value.h"

#include <gtest/gtest.h>

#include "config/plan.h"

namespace paceline::config {
namespace {

const Option& option(std::string_view name, unsigned kinds = kInference) {
  return *find_option(name, kinds);
}
Converted convert_text(std::string_view name, std::string text, bool quoted = false) {
  return convert(option(name), {std::move(text), {}, quoted});
}

TEST(Convert, ReadsEachType) {
  EXPECT_EQ(convert_text("batch_sizes", "8").value, Value(std::int64_t{8}));
  EXPECT_EQ(convert_text("stop.t_max_s", "2.5").value, Value(2.5));
  EXPECT_EQ(convert_text("stop.t_max_s", "5").value, Value(5.0));
  EXPECT_EQ(convert_text("stop.rel_halfwidth_p50", "1e-3").value, Value(1e-3));
  EXPECT_EQ(convert_text("pin", "yes").value, Value(true));
  EXPECT_EQ(convert_text("pin", "False").value, Value(false));
  EXPECT_EQ(convert_text("precisions", "amp_bf16").value, Value(std::string("amp_bf16")));
  EXPECT_EQ(convert_text("shapes", "x:1x3").value, Value(std::string("x:1x3")));
}

TEST(Convert, ReadsSizesInPowersOf1024) {
  const auto bytes = [](std::string text) {
    return convert(option("max_bytes", kind_bit(WorkloadKind::kCollective)), {std::move(text), {}, false});
  };
  EXPECT_EQ(bytes("8").value, Value(std::int64_t{8}));
  EXPECT_EQ(bytes("64K").value, Value(std::int64_t{65536}));
  EXPECT_EQ(bytes("256M").value, Value(std::int64_t{268435456}));
  for (const char* text : {"K", "8X", "08", "-1K", "999999999999T", "1.5M"})
    EXPECT_FALSE(bytes(text).value) << text;
}

TEST(Convert, ReadsSizesAsTrtexecWritesThem) {
  const auto bytes = [](std::string text) {
    return convert(option("workspace", kCommandLine), {std::move(text), {}, false});
  };
  for (const char* text : {"4G", "4GiB", "4096MiB", "workspace:4G", "workspace:4GiB", "workspace:4096",
                           "workspace:4096.0", "workspace:4194304K", "workspace:4294967296B"})
    EXPECT_EQ(bytes(text).value, Value(std::int64_t{4} << 30)) << text;
  EXPECT_EQ(bytes("workspace:1.5").value, Value(std::int64_t{3} << 19));
  EXPECT_EQ(bytes("workspace:0.25G").value, Value(std::int64_t{1} << 28));
  for (const char* text : {"8iB", "iB", "4GB", "dlaSRAM:4M", "workspace:", "workspace:M", "workspace:4X",
                           "workspace:0", "workspace:-1"})
    EXPECT_FALSE(bytes(text).value) << text;
  EXPECT_NE(bytes("4096").problem.find("at least 1048576 bytes"), std::string::npos)
      << "megabytes in trtexec";
}

struct Bad {
  const char* name;
  const char* text;
  const char* problem;
};
class BadValue : public testing::TestWithParam<Bad> {};

TEST_P(BadValue, IsRefusedInWords) {
  const auto converted = convert_text(GetParam().name, GetParam().text);
  EXPECT_FALSE(converted.value);
  EXPECT_EQ(converted.problem, GetParam().problem);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadValue,
    testing::Values(
        Bad{"batch_sizes", "0", "batch '0' is out of range: from 1 to 1000000 samples"},
        Bad{"batch_sizes", "-4", "batch '-4' is out of range: from 1 to 1000000 samples"},
        Bad{"batch_sizes", "010",
            "batch '010' has a leading zero, which some readers take for octal; write it without"},
        Bad{"batch_sizes", "1.5", "batch '1.5' is not a whole number (from 1 to 1000000 samples)"},
        Bad{"batch_sizes", "+5", "batch '+5' is not a whole number (from 1 to 1000000 samples)"},
        Bad{"batch_sizes", "1e3", "batch '1e3' is not a whole number (from 1 to 1000000 samples)"},
        Bad{"batch_sizes", "99999999999999999999",
            "batch '99999999999999999999' is out of range: from 1 to 1000000 samples"},
        Bad{"batch_sizes", "", "batch '' is empty; a whole number belongs here"},
        Bad{"stop.t_max_s", "nan", "stop.t_max_s 'nan' is not a number (from 0.001 to 86400 s)"},
        Bad{"stop.t_max_s", "inf", "stop.t_max_s 'inf' is not a number (from 0.001 to 86400 s)"},
        Bad{"stop.t_max_s", "-inf", "stop.t_max_s '-inf' is not a number (from 0.001 to 86400 s)"},
        Bad{"stop.t_max_s", ".inf", "stop.t_max_s '.inf' is not a number (from 0.001 to 86400 s)"},
        Bad{"stop.t_max_s", "1e999", "stop.t_max_s '1e999' is out of range: from 0.001 to 86400 s"},
        Bad{"stop.t_max_s", "0x10", "stop.t_max_s '0x10' is not a number (from 0.001 to 86400 s)"},
        Bad{"stop.t_max_s", "010.5",
            "stop.t_max_s '010.5' has a leading zero, which some readers take for octal; write it without"},
        Bad{"stop.t_max_s", "-1", "stop.t_max_s '-1' is out of range: from 0.001 to 86400 s"},
        Bad{"confidence", "1", "confidence '1' is out of range: from 0.5 to 0.9999"},
        Bad{"pin", "maybe", "pin 'maybe' is neither true nor false"},
        Bad{"layouts", "nhwc", "layout 'nhwc' is none of contiguous, channels_last"},
        Bad{"precisions", "fp17",
            "precision 'fp17' is none of fp32, tf32, fp16, bf16, amp_fp16, amp_bf16, int8, auto; did you "
            "mean "
            "'fp16'?"},
        Bad{"engines", "eagre",
            "engine 'eagre' is none of eager, torchscript, aotinductor, openvino, onnxruntime, tensorrt, and "
            "no file; did you "
            "mean 'eager'?"},
        Bad{"models", "resnet5",
            "model 'resnet5' is none of resnet50, vit_b_16, bert-large, gpt2, tiny_cnn, and no file; did you "
            "mean 'resnet50'?"},
        Bad{"accuracy.reference", "auto",
            "accuracy.reference 'auto' is no reference; name an engine, a built-in model or a file"},
        Bad{"accuracy.reference", "ort",
            "accuracy.reference 'ort' is none of eager, torchscript, aotinductor, openvino, onnxruntime, "
            "tensorrt, and no file; here it is onnxruntime"},
        Bad{"arrival_rate_per_s", "10:40:10",
            "arrival_rate_per_s '10:40:10' is not a number (from 0.001 to 1000000000 1/s); a list is written "
            "10,20,30,40"},
        Bad{"models", "missing/net.pt",
            "model 'missing/net.pt' does not exist; check the path (it is relative to the current "
            "directory)"},
        Bad{"shapes", "x:1.5x3",
            "shape 'x:1.5x3' has the dimension '1.5', which is no whole number; write "
            "NAME:DIMxDIM[:DTYPE], e.g. "
            "input:8x3x224x224,ids:8x128:int64"}));

TEST(Convert, TakesNoNumberFromQuotes) {
  EXPECT_EQ(convert_text("batch_sizes", "8", true).problem,
            "batch '8' is text in quotes; a whole number belongs here");
  EXPECT_FALSE(convert_text("pin", "true", true).value);
  EXPECT_TRUE(convert_text("precisions", "fp32", true).value);
}

TEST(Convert, ShortensWhatItRepeats) {
  const auto problem = convert_text("precisions", std::string(100'000, 'x')).problem;
  EXPECT_LT(problem.size(), 250U);
}

TEST(Convert, TakesNamesInUpperCase) {
  EXPECT_EQ(value_text(*convert_text("precisions", "BF16").value), "bf16");
  EXPECT_EQ(value_text(*convert_text("engines", "OpenVINO").value), "openvino");
  EXPECT_EQ(value_text(*convert_text("device", "CUDA:1").value), "cuda:1");
  EXPECT_EQ(value_text(*convert_text("labels", "Mine").value), "Mine");
}

TEST(Convert, NamesWhatStandsForWordsOfOtherTools) {
  EXPECT_NE(convert_text("engines", "ORT").problem.find("here it is onnxruntime"), std::string::npos);
  EXPECT_NE(convert_text("precisions", "float16").problem.find("here it is fp16"), std::string::npos);
  EXPECT_NE(convert_text("concurrency", "1:4").problem.find("a list is written 1,2,3,4"), std::string::npos);
  EXPECT_EQ(convert_text("threads", "a:b").problem.find("a list is written"), std::string::npos);
}

TEST(Convert, TakesNamesThatPluginsBring) {
  const ExtraNames extra{{"spin"}, {"spinner"}};
  EXPECT_TRUE(convert(option("engines"), {"spin", {}, false}, {&extra, false}).value);
  EXPECT_TRUE(convert(option("models"), {"spinner", {}, false}, {&extra, false}).value);
  const auto near = convert(option("engines"), {"spun", {}, false}, {&extra, false});
  EXPECT_NE(near.problem.find("did you mean 'spin'?"), std::string::npos);
  EXPECT_TRUE(convert(option("engines"), {"anything", {}, false}, {nullptr, true}).value);
}

TEST(Settings, SayWhichScenarioItIs) {
  Settings s;
  EXPECT_EQ(scenario_of(s), Scenario::kSync);
  for (const auto& row : kScenarios) {
    s.set("scenario", std::string(row.name));
    EXPECT_EQ(scenario_of(s), row.scenario) << row.name;
  }
}

}  // namespace
}  // namespace paceline::config
