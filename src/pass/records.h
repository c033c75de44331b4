// SPDX-License-Identifier: MIT
// Reports of a worker while it works, as JSON records, and the report put together from them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "pass/report.h"

// Makers and readers of records. Each is one JSON object, tagged with pass kind, rank and repetition.
namespace paceline::pass {

// Where records go: a pipe to the coordinator, or straight into it for --in-process. The transport is a seam:
// under a launcher that is not ours it will be the process group.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void emit(const nlohmann::json& record) = 0;
};

// Writes each record as a line to a file descriptor it does not own. Throws Error(kIo) when the reader is
// gone.
class PipeSink : public RecordSink {
 public:
  explicit PipeSink(int fd) : fd_(fd) {}
  void emit(const nlohmann::json& record) override;

 private:
  int fd_;
};

// Rank that computes longest among those that train together.
struct SlowestRank {
  std::int64_t rank = 0;
  double beyond = 0;    // its computing takes this share longer than the median rank's
  std::string cause{};  // as evidence says; empty: unknown, or the others do not wait for it
};

// The last steps of a training in progress.
struct LiveSteps {
  Number samples_per_s;                  // of all ranks
  Number loss;                           // of the last step
  std::optional<SlowestRank> slowest{};  // none: a single rank, or not compared yet
  result::StepShares shares;
};

// A short-lived view of a running measurement, for people.
struct ProgressRecord {
  std::string phase;
  std::int64_t n = 0;
  double elapsed_s = 0;
  Number p50_ns, ci_low_ns, ci_high_ns;
  std::string notice{};              // not empty: a sentence for the user instead
  std::int64_t fault_ns = 0;         // it announces a fault on purpose, then, on the clock of its machine
  Count step{};                      // training: the last step that was done, counted as in rank<k>.jsonl
  std::optional<LiveSteps> steps{};  // training, from rank 0
  bool blocks = false;               // n counts blocks of inferences, and times are per inference in them
  const PassReport* part{};          // not stored: the report so far, where a part of its results is new
};

// Records that are valid without those that follow: one size of a sweep, one round.
bool is_part(std::string_view record_type);

// Adds one record. Returns the progress it carried, if any. Throws Error(kData) for an invalid record.
std::optional<ProgressRecord> apply_record(PassReport& report, const nlohmann::json& record);

// Makers; the tags (rank, repetition) are added by the pass. First those of every pass.
nlohmann::json phase_record(const std::string& phase);
nlohmann::json at_record(const std::string& words);  // what a rank does next
nlohmann::json progress_record(const ProgressRecord& progress);
nlohmann::json notice_record(const std::string& words);
nlohmann::json fault_record(const std::string& words);  // a notice of a fault on purpose
nlohmann::json loaded_record(const std::vector<std::pair<std::string, std::string>>& versions,
                             const std::vector<std::pair<std::string, std::string>>& settings);
nlohmann::json correctness_record(const result::Correctness& correctness);
nlohmann::json samples_record(const std::vector<result::Sample>& samples);
// The readings of samplers on one rank, as they travel to rank 0; and of all ranks together.
std::string sampled_text(const std::vector<result::SampledWindow>& of_one_rank);
nlohmann::json sampled_record(const std::vector<std::string>& of_ranks);
nlohmann::json repetition_record(const result::Repetition& repetition);
nlohmann::json failed_record(const std::string& code, const std::string& message);
nlohmann::json done_record();

nlohmann::json describe_record(const PluginReport& plugin);
nlohmann::json file_inputs_record(const std::vector<DeclaredInput>& inputs);
nlohmann::json inputs_record(const InputsReport& inputs);
nlohmann::json prepared_record(const PreparedFile& prepared);
nlohmann::json check_record(const result::Correctness& correctness, const CheckReport& check);
nlohmann::json peaks_record(const PeaksReport& report);
nlohmann::json layers_record(const LayerReport& layers);

// The steps of all ranks are in the pass's table file.
nlohmann::json step_file_record(const result::StepFileMark& mark);
nlohmann::json operators_record(const result::ProfiledSteps& steps);
nlohmann::json interrupted_record(bool asked);  // whether it was this rank that was asked to end
// In place of a repetition: training that is resumed has no step left that could be timed.
nlohmann::json trained_record(const std::string& why);
// Stands after the record of the repetition it belongs to.
nlohmann::json restarts_record(const std::vector<result::RestartFigures>& restarts);

}  // namespace paceline::pass
