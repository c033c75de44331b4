// SPDX-License-Identifier: MIT
#include "base/foreign_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/reading.h"
#include "base/units.h"

namespace paceline {
namespace {

constexpr std::uint64_t kKiB = 1ULL << 10, kMiB = 1ULL << 20, kGiB = 1ULL << 30, kMB = 1'000'000;
constexpr std::string_view kLinear = "in proportion to its size";
constexpr std::size_t kNestedPlan = 32, kNestedModel = 100, kNestedTrace = 256;

constexpr std::array<ForeignLimit, 26> kLimits{{
    {Foreign::kPlan, "plan", 4 * kMiB, kNestedPlan, "in proportion to its cases, at most 100,000"},
    {Foreign::kEngineConfig, "engine configuration (`--config`)", 4 * kMiB, kMostNested, kLinear},
    {Foreign::kResult, "result of a run or a case", 4 * kGiB, kMostNested, kLinear},
    {Foreign::kRows, "samples, readings and steps of a run", 16 * kGiB, kMostNested, kLinear},
    {Foreign::kRecords, "records of passes", 16 * kGiB, kMostNested, kLinear},
    {Foreign::kCheckpoint, "`meta.json` of a checkpoint", 64 * kMiB, kMostNested, kLinear},
    {Foreign::kPretrained, "`config.json` and index of a Hugging Face folder", 16 * kMiB, kMostNested,
     kLinear},
    {Foreign::kManifest, "description of a plug-in", 1 * kMiB, kMostNested, kLinear},
    {Foreign::kTable, "table of `share` or in its place", 4 * kMiB, kNestedPlan, kLinear},
    {Foreign::kCalibration, "calibration cache", 64 * kMiB, kMostNested, kLinear},
    {Foreign::kTensors, "header of safetensors", 100 * kMB, kMostNested, kLinear},
    {Foreign::kMachine, "saved machine (`--expect-machine`)", 16 * kMiB, kMostNested, "2,000 facts"},
    {Foreign::kAnswer, "answer of a host, also while it prints", 16 * kMiB, kMostNested,
     "120 s, longer with `--load`; 2,000 facts, 2,000 checks"},
    {Foreign::kArrays, "member of `.npz`", 1024 * kGiB, 0,
     "a size that its directory and its header agree on"},
    {Foreign::kRecording, "recording of `monitor`", 1 * kGiB, kMostNested, "10,000 points of a figure"},
    {Foreign::kLive, "`live.json` of a run under way", 256 * kKiB, kMostNested, "200 bytes of each text"},
    {Foreign::kNsightDatabase, "Nsight Systems (`.sqlite`)", 64 * kGiB, 0,
     "60 s, 15 million rows, 2 GiB of names, 1,024 devices"},
    {Foreign::kNsightTable, "Nsight Compute (`.csv`)", 256 * kMiB, 0, "10 million cells"},
    {Foreign::kNetwork, "OpenVINO's `.xml`", 256 * kMiB, 0, kLinear},
    {Foreign::kModel, "ONNX file without its external data", 2 * kGiB, kNestedModel, kLinear},
    {Foreign::kTrace, "PyTorch trace: what is kept of it", 2000 * kMB, kNestedTrace, kLinear},
    {Foreign::kUnpackedTrace, "PyTorch trace: as it is, or unpacked from gzip", 64 * kGiB, kNestedTrace,
     "200 times its size as gzip"},
    {Foreign::kSchedule, "schedule of requests (`server.arrival`)", 256 * kMiB, kMostNested,
     "10 million times"},
    {Foreign::kStepRecords, "records of a step file (`attach`)", 1 * kGiB, 0, kLinear},
    {Foreign::kCifar, "file of CIFAR", 1 * kGiB, 0, kLinear},
    {Foreign::kImage, "image", 256 * kMiB, 0, kLinear},
}};

}  // namespace

std::span<const ForeignLimit> foreign_limits() {
  return kLimits;
}

const ForeignLimit& limit_of(Foreign what) {
  return *std::ranges::find(kLimits, what, &ForeignLimit::what);
}

std::string read_foreign(const std::filesystem::path& file, Foreign what) {
  return read_limited(file, limit_of(what).bytes);
}

std::string read_stored(const std::filesystem::path& file, Foreign what) {
  return read_regular_file(file, limit_of(what).bytes);
}

Refusal too_large(const std::filesystem::path& file, Foreign what) {
  std::error_code unknown;
  const auto bytes = std::filesystem::file_size(file, unknown);
  const auto most = limit_of(what).bytes;
  if (unknown || bytes <= most) return {};
  return fmt::format("has {}, and at most {} are read here", format_bytes(static_cast<double>(bytes)),
                     format_bytes(static_cast<double>(most)));
}

}  // namespace paceline
