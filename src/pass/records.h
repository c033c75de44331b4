// SPDX-License-Identifier: MIT
// What a worker reports while it works, as JSON records, and the report put together from them.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/declared_input.h"
#include "plugin/capability.h"
#include "result/case_result.h"
#include "result/collective_times.h"
#include "result/samples.h"
#include "result/step_file.h"

// What a worker says while it works. Each record is one JSON object, tagged with pass kind, rank and
// repetition.
namespace paceline::pass {

// Where records go: a pipe to the coordinator, or straight into it for --in-process. The transport is a seam:
// under a launcher that is not ours it will be the process group.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void emit(const nlohmann::json& record) = 0;
};

// Writes each record as a line to a file descriptor it does not own. Throws Error(kIo) when nobody reads any
// more.
class PipeSink : public RecordSink {
 public:
  explicit PipeSink(int fd) : fd_(fd) {}
  void emit(const nlohmann::json& record) override;

 private:
  int fd_;
};

// A model file that a pass wrote.
struct PreparedFile {
  std::string format;
  std::int64_t size_bytes = 0;
  double duration_ns = 0;
  result::Quantisation quantisation;
  std::vector<std::string> notes{};  // of a build, in words
};

// The phases of a pass until an engine has read its model.
inline constexpr const char* kStartPhase = "start";
inline constexpr const char* kLoadPhase = "load";

// Everything one pass reported, put together from its records.
struct PassReport {
  bool done = false;          // the worker said so itself
  bool interrupted = false;   // train: ranks were asked to end; rank_steps holds the steps until then
  bool asked_to_end = false;  // train: it was this rank that was asked, by a signal
  std::string trained;  // train: why nothing was measured, of training that was done before; empty: it was
  std::string phase = kStartPhase;  // the last one it entered
  std::string error_code;           // of a failure it reported: unsupported, data, …
  std::string error;
  std::vector<result::Sample> samples;
  result::Repetition repetition;
  result::Correctness correctness;
  result::PrecisionReadBack precision;
  result::Count tensor_peak_bytes;
  result::Count reserved_peak_bytes = result::Count::missing("the engine tells of no memory it reserves");
  result::Number flops_per_item;  // counted by the engine
  std::map<std::string, std::string> effective_settings;
  std::vector<std::pair<std::string, std::string>> versions;
  std::vector<plugin::Capability> capabilities;  // describe
  std::string options = "[]";                    // describe: as Plugin::options
  result::Number first_op_ns;                    // describe
  std::vector<DeclaredInput> file_inputs;        // inspect
  std::optional<PreparedFile> prepared;          // export
  std::int64_t samples_given = 0;        // inputs: what the user's files hold; 0: generated, or not counted
  std::vector<result::LayerRow> layers;  // profile
  std::string layers_source;
  std::int64_t layers_inferences = 0;
  std::optional<result::StepFileMark> step_file;        // train: of the file that holds rank_steps
  std::vector<result::RankSteps> rank_steps;            // train: every rank's, in the order of ranks
  std::optional<result::ProfiledSteps> profiled_steps;  // train_profile
  // collective: what is known before the first size (operation, backend, ranks); none: nothing was measured
  std::optional<result::CollectiveResult> collective;
  std::string at;                                         // collective: what is being measured, in words
  std::vector<result::CollectiveTimes> collective_times;  // collective: every size, out of place and in place
  std::vector<result::RoundTimes> round_times;            // collective: every subset of every round
};

// Of ranks that train together, the one that computes longest.
struct SlowestRank {
  std::int64_t rank = 0;
  double beyond = 0;  // its computing takes this share longer than the median rank's
};

// The last steps of a training that goes on.
struct LiveSteps {
  double samples_per_s = 0;              // of all ranks
  result::Number loss;                   // of the last step
  std::optional<SlowestRank> slowest{};  // none: a single rank, or not compared yet
  result::StepShares shares;
};

// A short-lived view of a running measurement, for people.
struct ProgressRecord {
  std::string phase;
  std::int64_t n = 0;
  double elapsed_s = 0;
  result::Number p50_ns, ci_low_ns, ci_high_ns;
  std::string notice{};              // not empty: a sentence for the user instead
  std::int64_t fault_ns = 0;         // it announces a fault on purpose, then, on the clock of its machine
  result::Count step{};              // training: the last step that was done, counted as in rank<k>.jsonl
  std::optional<LiveSteps> steps{};  // training, from rank 0
  const PassReport* part{};          // not stored: the report so far, where a part of its results is new
};

// Records whose results stand without those that follow: one size of a sweep, one round.
bool is_part(std::string_view record_type);

// Adds one record. Returns the progress it carried, if any. Throws Error(kData) for a record that is none.
std::optional<ProgressRecord> apply_record(PassReport& report, const nlohmann::json& record);

// Makers; the tags (rank, repetition) are added by the pass.
nlohmann::json phase_record(const std::string& phase);
nlohmann::json progress_record(const ProgressRecord& progress);
nlohmann::json notice_record(const std::string& words);
nlohmann::json fault_record(const std::string& words);  // a notice of a fault on purpose
nlohmann::json loaded_record(const std::vector<std::pair<std::string, std::string>>& versions,
                             const std::vector<std::pair<std::string, std::string>>& settings);
nlohmann::json check_record(const result::Correctness& correctness,
                            const result::PrecisionReadBack& precision,
                            const result::Count& tensor_peak_bytes, const result::Count& reserved_peak_bytes,
                            const result::Number& flops_per_item);
nlohmann::json correctness_record(const result::Correctness& correctness);
nlohmann::json samples_record(const std::vector<result::Sample>& samples);
nlohmann::json repetition_record(const result::Repetition& repetition);
nlohmann::json file_inputs_record(const std::vector<DeclaredInput>& inputs);
nlohmann::json describe_record(const std::vector<plugin::Capability>& capabilities,
                               const std::string& options, const result::Number& first_op_ns);
nlohmann::json inputs_record(std::int64_t samples_given);
nlohmann::json prepared_record(const PreparedFile& prepared);
nlohmann::json layers_record(const std::vector<result::LayerRow>& layers, const std::string& source,
                             std::int64_t inferences);
// The steps of all ranks are in the pass's table file.
nlohmann::json step_file_record(const result::StepFileMark& mark);
// Before the first size: operation, backend, ranks. Then, from every rank, what it measures next, in words.
nlohmann::json collective_record(const result::CollectiveResult& known);
nlohmann::json at_record(const std::string& words);
// The times of one size on one rank, as they travel to rank 0; and of all ranks together, in their order.
std::string collective_times_text(const result::CollectiveTimes& of_one_rank);
nlohmann::json collective_times_record(const std::vector<std::string>& of_ranks);
nlohmann::json round_times_record(const std::vector<result::RoundTimes>& of_round);
nlohmann::json operators_record(const result::ProfiledSteps& steps);
nlohmann::json interrupted_record(bool asked);  // whether it was this rank that was asked to end
// In place of a repetition: training that is resumed has no step left that could be timed.
nlohmann::json trained_record(const std::string& why);
// Stands after the record of the repetition it belongs to.
nlohmann::json restarts_record(const std::vector<result::RestartFigures>& restarts);
nlohmann::json failed_record(const std::string& code, const std::string& message);
nlohmann::json done_record();

}  // namespace paceline::pass
