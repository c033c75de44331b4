// SPDX-License-Identifier: MIT
#include "run/device_choice.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/file.h"
#include "base/scratch_folder.h"
#include "config/declared_options.h"
#include "host/machine/accelerators.h"
#include "run/case/case_identity.h"

namespace paceline::run {
namespace {

namespace fs = std::filesystem;
using plugin::Role;
using Lines = std::vector<std::string>;

const plugin::Manifest kCpu{
    "torch", "torch.so", {{Role::kEngine, "eager", "cpu"}, {Role::kEngine, "openvino", "cpu"}}, {}, "", ""};
const plugin::Manifest kCuda{"cuda", "cuda.so", {{Role::kEngine, "eager", "cuda"}}, {}, "", ""};
const plugin::Manifest kNotBuilt{
    "cuda", "", {{Role::kEngine, "eager", "cuda"}}, {}, "no CUDA toolkit found", "install it"};

GpusHere one_gpu() {
  return {"", "NVIDIA H200", 1, {}};
}

std::vector<config::Case> settled(const std::string& lines, const GpusHere& here,
                                  std::vector<plugin::Manifest> plugins = {kCpu, kCuda}) {
  auto cases =
      config::expand(config::load_plan_text("kind: inference\nmodel: resnet50\n" + lines, "test.yaml"));
  settle_devices(cases, EngineDirectory(std::move(plugins)), here);
  return cases;
}

std::string identity(const config::Case& c) {
  const auto device = new_case_result(c, "run").benchmark.device;
  return device.empty() ? "cpu" : device;
}

TEST(DeviceChoice, AutoIsTheGpuWhereOneCanBeUsed) {
  const auto cases = settled("", one_gpu());
  EXPECT_EQ(cases.at(0).settings.text("device"), "cuda");
  EXPECT_EQ(identity(cases.at(0)), "cuda:0");
  EXPECT_EQ(identity(cases.at(0)), identity(settled("device: cuda\n", one_gpu()).at(0)));
  EXPECT_EQ(cases.at(0).id, "resnet50-eager-fp32-b1");
  EXPECT_EQ(device_lines(cases), Lines{"cuda (NVIDIA H200): auto takes a GPU where one can be used"});
}

TEST(DeviceChoice, CasesOnAGpuAreWatchedUnlessTheyNameTheirSamplers) {
  DeclaredOption period{.name = "nvml.period_ms", .sampler = "nvml", .type = DeclaredType::kInteger};
  period.fallback = "100", period.help = "A period.";
  config::use_declared_options({period}, {"nvml", "tick"});
  const plugin::Manifest nvml{"nvml", "nvml.so", {{Role::kSampler, "nvml", "any"}}, {}, "", ""};
  const auto samplers = [&](const std::string& lines, std::vector<plugin::Manifest> plugins) {
    const auto cases = settled(lines, one_gpu(), std::move(plugins));
    return std::pair(cases.at(0).settings.texts("sampler"), cases.at(0).settings.has("nvml.period_ms"));
  };
  EXPECT_EQ(samplers("", {kCpu, kCuda, nvml}), std::pair(Lines{"nvml"}, true));
  EXPECT_EQ(samplers("", {kCpu, kCuda}), std::pair(Lines{}, false));
  EXPECT_EQ(samplers("device: cpu\n", {kCpu, kCuda, nvml}), std::pair(Lines{}, false));
  EXPECT_EQ(samplers("sampler: none\n", {kCpu, kCuda, nvml}), std::pair(Lines{"none"}, false));
  EXPECT_EQ(samplers("sampler: tick\n", {kCpu, kCuda, nvml}), std::pair(Lines{"tick"}, false));
  config::use_declared_options({});
}

TEST(Samplers, TheCpusAreWatchedWhereTheirEnergyCanBeRead) {
  config::use_declared_options({}, {"nvml", "rapl"});
  const plugin::Manifest nvml{"nvml", "nvml.so", {{Role::kSampler, "nvml", "any"}}, {}, "", ""};
  const plugin::Manifest rapl{"rapl", "rapl.so", {{Role::kSampler, "rapl", "any"}}, {}, "", ""};
  auto here = one_gpu();
  here.cpu_energy = true;
  const auto samplers = [&](const std::string& lines, std::vector<plugin::Manifest> plugins) {
    return settled(lines, here, std::move(plugins)).at(0).settings.texts("sampler");
  };
  EXPECT_EQ(samplers("device: cpu\n", {kCpu, kCuda, nvml, rapl}), Lines{"rapl"});
  EXPECT_EQ(samplers("", {kCpu, kCuda, nvml, rapl}), (Lines{"nvml", "rapl"}));
  EXPECT_EQ(samplers("", {kCpu, kCuda, nvml}), Lines{"nvml"});
  EXPECT_EQ(samplers("sampler: none\n", {kCpu, kCuda, nvml, rapl}), Lines{"none"});
  here.cpu_energy = false;
  EXPECT_EQ(samplers("device: cpu\n", {kCpu, kCuda, nvml, rapl}), Lines{});
  config::use_declared_options({});
}

TEST(DeviceChoice, WithoutAGpuItIsTheCpuAndTheReasonIsSaid) {
  const auto cases = settled("", {"no NVIDIA GPU here (neither a nor b); use device: cpu", "", 0, {}});
  EXPECT_EQ(cases.at(0).settings.text("device"), "cpu");
  EXPECT_EQ(identity(cases.at(0)), "cpu");
  EXPECT_EQ(device_lines(cases), Lines{"cpu: no NVIDIA GPU here (neither a nor b)"});
}

TEST(DeviceChoice, AGpuThatIsNotUsedIsSaidWithTheReason) {
  EXPECT_EQ(
      device_lines(settled("", one_gpu(), {kCpu, kNotBuilt})),
      Lines{"cpu: the GPU here is not used: engine 'eager' needs the cuda plug-in, which is not built: no "
            "CUDA toolkit found; to get it: install it"});
  EXPECT_EQ(
      device_lines(settled("engine: openvino\n", one_gpu())),
      Lines{"cpu: the GPU here is not used: engine 'openvino' does not run on cuda:0 here; it does on: cpu"});
  EXPECT_EQ(device_lines(settled("device: cpu\n", one_gpu())),
            Lines{"cpu, as asked; the GPU here is not used"});
  EXPECT_EQ(device_lines(settled("device: cuda:1\n", one_gpu())), Lines{"cuda:1, as asked"});
}

TEST(DeviceChoice, APlugInThatCannotUseTheGpuIsAskedOnceAndLeavesTheCpu) {
  int asked = 0;
  auto here = one_gpu();
  here.refusal = [&](const fs::path& file) {
    ++asked;
    return fmt::format("plug-in '{}': libtorch_cuda.so is missing", file.string());
  };
  const auto cases = settled("batch_sizes: [1, 2]\n", here);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(cases.at(1).settings.text("device"), "cpu");
  EXPECT_EQ(device_lines(cases),
            Lines{"cpu: the GPU here is not used: plug-in 'cuda.so': libtorch_cuda.so is missing"});
  settled("device: cpu\n", here);
  settled("device: cuda\n", here);
  EXPECT_EQ(asked, 1);
}

TEST(DeviceChoice, APlugInThatDoesNotSayWhereItRunsStaysOnTheCpu) {
  const plugin::Manifest mine{"mine", "mine.so", {{Role::kEngine, "eager"}}, {}, "", ""};
  EXPECT_EQ(
      device_lines(settled("", one_gpu(), {mine, kCuda})),
      Lines{"cpu: the GPU here is not used: plug-in 'mine.so' does not say where it runs; device: cuda asks "
            "it to"});
}

TEST(DeviceChoice, OptionsThatNeedAGpuAreRefusedOnceAutoIsTheCpu) {
  const std::string lines = "precision: tf32\nio: pinned\n";
  EXPECT_EQ(settled(lines, one_gpu()).at(0).not_available, "");
  EXPECT_EQ(
      settled(lines, {"none", "", 0, {}}).at(0).not_available,
      "precision 'tf32' is a mode of NVIDIA GPUs; add device: cuda, or use fp32 or bf16; 'io: pinned' is for "
      "device: cuda");
}

TEST(DeviceChoice, InstancesNeedADeviceEach) {
  const std::string two = "scenario: closed_loop\ninstances: [2]\n";
  EXPECT_EQ(settled(two, one_gpu()).at(0).settings.text("device"), "cpu");
  EXPECT_EQ(settled(two + "instances_per_device: 2\n", one_gpu()).at(0).settings.text("device"), "cuda");
  EXPECT_EQ(settled(two, {"", "", 2, {}}).at(0).settings.text("device"), "cuda");
  EXPECT_EQ(settled(two, {"", "", 0, {}}).at(0).settings.text("device"), "cuda");  // how many is not known
}

TEST(DeviceChoice, DevicesThatAreNotHereAreNamed) {
  const auto missing = [](const std::string& lines, int count) {
    const auto plan = config::load_plan_text("kind: inference\nmodel: resnet50\n" + lines, "test.yaml");
    return missing_devices(config::expand(plan).at(0), {"", "", count, {}});
  };
  EXPECT_EQ(missing("gpus: 4\n", 4), "");
  EXPECT_EQ(missing("gpus: 4\n", 0), "");  // how many is not known
  EXPECT_EQ(missing("gpus: 8\n", 4), "8 devices are asked for, and 4 devices are visible here");
  EXPECT_EQ(missing("gpus: 2\n", 1), "2 devices are asked for, and 1 device is visible here");
  EXPECT_EQ(missing("devices: [0, 3]\n", 4), "");
  EXPECT_EQ(missing("devices: [0, 4]\n", 4), "there is no device 4; 4 devices are visible here, from 0 on");
  EXPECT_EQ(missing("scenario: closed_loop\ninstances: 8\ndevice: cuda\n", 4), "");  // ends its own case
}

TEST(DeviceChoice, EachProcessOnADeviceHasAsManyThreads) {
  auto here = one_gpu();
  here.cpus = 16;
  const auto threads = [&](const std::string& lines) {
    std::vector<std::string> all;
    for (const auto& c : settled(lines, here))
      all.push_back(c.settings.has("threads_per_instance") ? c.settings.texts("threads_per_instance").at(0)
                                                           : "-");
    return all;
  };
  EXPECT_EQ(threads("gpus: [1, 2, 4]\n"), (Lines{"4", "4", "4"}));
  EXPECT_EQ(threads("gpus: [1, 2]\nconcurrency: [1, 2]\n"), (Lines{"8", "8", "4", "4"}));
  EXPECT_EQ(threads("gpus: [1, 32]\n"), (Lines{"1", "1"}));
  EXPECT_EQ(threads("gpus: [1, 2]\nthreads: 3\n"), (Lines{"-", "-"}));
  EXPECT_EQ(threads("gpus: [1, 2]\nthreads_per_instance: 2\n"), (Lines{"2", "2"}));
  EXPECT_EQ(threads("device: cuda\n"), (Lines{"-"}));
}

TEST(DeviceChoice, EachDifferentAnswerIsALineWithItsCases) {
  EXPECT_EQ(
      device_lines(settled("engines: [eager, openvino]\nbatch_sizes: [1, 2]\n", one_gpu())),
      (Lines{
          "cuda (NVIDIA H200): auto takes a GPU where one can be used (2 cases)",
          "cpu: the GPU here is not used: engine 'openvino' does not run on cuda:0 here; it does on: cpu (2 "
          "cases)"}));
}

TEST(DeviceChoice, ACaseIsNotComparedWithABaselineOnAnotherDevice) {
  const std::string lines = "engines: [eager, openvino]\n";
  const auto mixed = settled(lines, one_gpu());
  EXPECT_EQ(mixed.at(0).baseline_id, mixed.at(0).id);
  EXPECT_EQ(mixed.at(1).baseline_id, std::nullopt);
  const auto alike = settled(lines + "device: cpu\n", one_gpu());
  EXPECT_EQ(alike.at(1).baseline_id, alike.at(0).id);
}

class Signs : public ::testing::Test {
 protected:
  GpusHere here(bool sign, host::NvidiaDriver driver) {
    if (sign)
      make_directories(scratch_.path() / "dev"), write_file_atomic(scratch_.path() / "dev/nvidia0", "");
    return gpus_here(host::SystemFiles(scratch_.path()), [&] {
      return host::GpuPlaces{std::move(driver), host::SystemFiles(scratch_.path()), {}};
    });
  }
  ScratchFolder scratch_ = ScratchFolder::below_temp("paceline-device-choice");
};

TEST_F(Signs, WithoutSignsTheDriverIsNotAsked) {
  const auto none = gpus_here(host::SystemFiles(scratch_.path()),
                              []() -> host::GpuPlaces { throw std::logic_error("it was asked"); });
  EXPECT_EQ(none.absent, "no NVIDIA GPU here (neither /dev/nvidia0 nor /dev/dxg); use device: cpu");
}

TEST_F(Signs, TheDriverCountsAndNamesThem) {
  if (host::visible_devices()) GTEST_SKIP() << "CUDA_VISIBLE_DEVICES is set";
  const host::NvidiaGpu gpu{
      std::string("NVIDIA H200"), std::string("GPU-aa"), std::string("0000:1b:00.0"), {}};
  const auto two = here(true, {std::string("580.65.06"), std::string("13.0"), {gpu, gpu}});
  EXPECT_EQ(two.absent, "");
  EXPECT_EQ(two.name, "NVIDIA H200");
  EXPECT_EQ(two.count, 2);
  EXPECT_EQ(here(true, {std::string("580.65.06"), std::string("13.0"), {}}).absent,
            "NVIDIA's driver is here and lists no GPU");
  const auto no_nvml = Maybe<std::string>::missing("no libnvidia-ml.so.1");
  EXPECT_EQ(here(true, {no_nvml, no_nvml, {}}).absent, "");  // a Jetson has none
}

}  // namespace
}  // namespace paceline::run
