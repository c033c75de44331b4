// SPDX-License-Identifier: MIT
// Report of a pass: a common part, and a payload of its kind.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/declared_input.h"
#include "base/error.h"
#include "plugin/capability.h"
#include "result/figures/picture_parts.h"
#include "result/stored/case_result.h"
#include "result/stored/collective_times.h"
#include "result/stored/layers.h"
#include "result/stored/operator_profile.h"
#include "result/stored/rank_steps.h"
#include "result/stored/sampled.h"
#include "result/stored/samples.h"
#include "result/stored/step_file.h"

namespace paceline::pass {

// The phases of a pass until an engine has read its model.
inline constexpr const char* kStartPhase = "start";
inline constexpr const char* kLoadPhase = "load";
// A timed pass has its times, and waits for what its outputs are compared with.
inline constexpr const char* kUncheckedPhase = "unchecked";
// Phase of a timed pass that is warm and waits for those that it works in turns with.
inline constexpr const char* kTurnPhase = "turn";

struct PluginReport {
  std::vector<plugin::Capability> capabilities;
  std::string options = "[]";  // as Plugin::options
  Number first_op_ns;
};

struct FileInputs {
  std::vector<DeclaredInput> inputs;
};

struct InputsReport {
  std::int64_t samples_given = 0;  // what the user's files hold; 0: generated, or not counted
  result::PictureTimes pictures{};
  std::string left_out{};  // files of image_dir that are no pictures, in words; empty: none
};

// A model file that a pass wrote.
struct PreparedFile {
  std::string format;
  std::int64_t size_bytes = 0;
  double duration_ns = 0;
  result::Quantisation quantisation;
  std::vector<std::string> notes{};  // of a build, in words
};

// Beside the correctness, which timed passes report, too.
struct CheckReport {
  result::PrecisionReadBack precision;
  Count tensor_peak_bytes;
  Count reserved_peak_bytes = Count::missing("the engine reports no reserved memory");
  Number flops_per_item;  // counted by the engine
  Number flops_per_byte = Number::missing("this engine does not report it");
  Number convolution_share = flops_per_byte;
};

struct LayerReport {
  std::vector<result::LayerRow> layers;
  std::string source;
  std::int64_t inferences = 0;
};

struct PeaksReport {
  std::vector<result::DevicePeak> peaks;
};

struct TrainingReport {
  bool interrupted = false;   // ranks were asked to end; rank_steps holds the steps until then
  bool asked_to_end = false;  // it was this rank that was asked, by a signal
  std::string trained{};      // why nothing was measured, of training that was done before; empty: it was
  std::optional<result::StepFileMark> step_file{};  // of the file that holds rank_steps
  std::vector<result::RankSteps> rank_steps{};      // every rank's, in the order of ranks
  std::vector<result::EpochFigures> epochs{};       // finished ones of an interrupted repetition
};

struct SweepReport {
  // Facts before the first size: operation, backend, ranks. None: nothing was measured.
  std::optional<result::CollectiveResult> known{};
  std::vector<result::CollectiveTimes> times{};  // every size, out of place and in place
  std::vector<result::RoundTimes> rounds{};      // every subset of every round
};

// Payload that only passes of one kind report.
using Payload =
    std::variant<std::monostate, PluginReport, FileInputs, InputsReport, PreparedFile, CheckReport,
                 LayerReport, TrainingReport, result::ProfiledSteps, SweepReport, PeaksReport>;

// Their records, of one kind of pass each.
struct RecordType;
std::span<const RecordType> inference_records();
std::span<const RecordType> training_records();
std::span<const RecordType> collective_records();
inline constexpr std::array kRecordsOfKinds{inference_records, training_records, collective_records};

// Everything one pass reported, put together from its records.
struct PassReport {
  bool done = false;                // the worker said so itself
  std::string phase = kStartPhase;  // the last one it entered
  std::string at;                   // what a rank does next, in words: timeout_s counts from then
  std::string error_code;           // of a failure it reported: unsupported, data, …
  std::string error;
  std::vector<result::Sample> samples;
  result::Repetition repetition;
  std::vector<result::SampledWindow> sampled;  // of every rank that has samplers
  result::Correctness correctness;
  std::map<std::string, std::string> effective_settings;
  std::vector<std::pair<std::string, std::string>> versions;
  Payload payload;

  // The payload of this type; an empty one where nothing of it was reported.
  template <typename T>
  [[nodiscard]] const T& get() const {
    static const T kNothing{};
    const auto* there = std::get_if<T>(&payload);
    return there ? *there : kNothing;
  }
  // Returns it to be filled in. Throws Error(kData) if the pass has reported as another kind.
  template <typename T>
  T& fill() {
    if (payload.index() == 0) payload.emplace<T>();
    if (auto* there = std::get_if<T>(&payload)) return *there;
    throw Error(ErrorCode::kData, "records of passes of two kinds in one report");
  }
};

}  // namespace paceline::pass
