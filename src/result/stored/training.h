// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/maybe.h"
#include "result/stored/estimate.h"
#include "result/stored/rank_evidence.h"
#include "result/stored/step_parts.h"

// The figures of a training case beside the statistics of its steps. A step's time is the largest over the
// ranks (methodology: multi-rank aggregation).
namespace paceline::result {

// Parts of a step, as medians over the timed steps of one rank.
struct StepParts {
  Number step_ns;
  PerPart<StepPart, Number> ns;
};

// Where the time of all timed steps went, as shares of the sum of their times; they add up to at most 1.
using StepShares = PerPart<StepPart, Number>;

// One rank: where it ran and how long its steps took.
struct RankFigures {
  std::int64_t rank = 0;
  std::string host;
  std::int64_t process_id = 0;
  std::string cpus;  // it may use: 0-3
  std::int64_t threads = 0;
  StepParts parts;
  Number compute_ns;  // median of the step time without its exposed communication
  Count rss_peak_bytes;
  Count device_peak_bytes = Count::missing("the trainer reports no memory of a device");  // in tensors
  std::int64_t slowest_steps = 0;  // how often the others waited for it: its compute time was the largest
  RankEvidence evidence;
  bool shares_cpus = false;  // another rank may use the same ones, and nothing is pinned; not stored
};

// One pass over the data.
struct EpochFigures {
  std::int64_t epoch = 0;
  std::int64_t steps = 0;
  std::int64_t samples = 0;  // of all ranks
  Number loss;               // mean over steps and ranks
  Number accuracy;           // share of correct first answers while training; missing without labels
  Number learning_rate;      // of its last step
  Number seconds;
  Number samples_per_s;
  Number step_mean_ns, step_p50_ns, step_p95_ns;
  // After the epoch, on data that are not trained on.
  Count eval_samples = Count::missing("no held-out data were looked at after this epoch");
  Number eval_loss = Number::missing("no held-out data were looked at after this epoch");
  Number eval_accuracy = Number::missing("no held-out data were looked at after this epoch");
  Number eval_seconds = Number::missing("no held-out data were looked at after this epoch");
};

// One all-reduce of gradients; times from the start of the step, medians over the timed steps of rank 0.
struct BucketFigures {
  std::int64_t bytes = 0;
  Number launched_ns, finished_ns;
  // How long it was exchanged: from when the last rank had launched it and the bucket before was through.
  Number transfer_ns;
};

// A fault that training survived by a restart.
struct RestartFigures {
  std::string cause;     // with the rank, in words
  Number detect_ns;      // from the fault to its detection, where the fault was injected
  Number first_step_ns;  // from the detection to the end of the first step afterwards
  Count steps_lost;      // done before the fault and done again
  std::int64_t world_before = 0, world_after = 0;
};

// Checkpoints of a run, as medians over them.
struct CheckpointFigures {
  Count written;
  Count bytes;        // of one, all files together
  Number write_ns;    // until it was on the disk
  Number blocked_ns;  // how long training waited for it
  Number read_ns;     // of the one from which training continued
  Count resumed_step;
};

// Where the time of the typical rank went, as means over the timed steps that add up to step_ns (methodology:
// loss budget).
struct StepCosts {
  Estimate step_ns;  // from the end of one exchange of gradients to the end of the next
  PerPart<OwnPart, Estimate> own_ns;
  Estimate straggler_wait_ns;  // for ranks that were not ready
  Estimate communication_ns;   // exposed, from when the last rank was ready
  Estimate own_sd_ns;          // standard deviation of a rank's own time from step to step
};

// A rank that the others wait for.
struct LateRank {
  std::int64_t rank = 0;
  bool certain = true;   // false: it looks late, but chance or the scheduler's favour cannot be ruled out
  std::string late_in;   // the part of the step in which it loses most, in words
  Number last_share;     // of the exchanges in which it was the last
  Number chance;         // of looking like this by chance
  Number late_ns;        // median of its own time less the median of the others, where it is late
  Number mean_late_ns;   // over all steps
  Number cost_ns;        // of a step: what the typical rank waits for it, at most its lateness
  Number waiting_share;  // of all waiting
  std::int64_t first_step = 0, since_step = 0;  // equal: late from the beginning
  std::int64_t last_step = 0, until_step = 0;   // equal: late to the end
  bool begins_late = true;                      // the first exchanges show it, too
  std::int64_t every = 0;                       // late in every k-th exchange; 0: no such period
  std::int64_t steps = 0, exchanges = 0,
               late_exchanges = 0;  // that were looked at; fewer exchanges: accumulation
  std::vector<LateCause> causes{};  // the largest first; empty: unknown
};

struct Training {
  std::string backend;   // gloo | nccl; empty: a single rank without DDP
  std::string launcher;  // what started the ranks: paceline, torchrun, mpirun, srun
  bool ddp = false;
  std::vector<RankFigures> ranks;
  std::vector<EpochFigures> epochs;
  StepParts parts;    // medians over steps of the mean over ranks
  StepShares shares;  // of the typical rank's mean step; missing in results of versions without them
  Number first_loss, last_loss;
  Count steps;          // of the optimizer, untimed ones included
  Count skipped_steps;  // by the GradScaler
  Number loss_scale;    // at the end
  Number total_ns;      // from the first step to the last
  Count parameters, parameter_tensors;
  std::vector<std::int64_t> bucket_bytes;  // gradients of one all-reduce each
  std::vector<BucketFigures> buckets;
  Count collectives_per_step;
  StepCosts costs;             // missing in results of versions without them
  std::vector<LateRank> late;  // of the last repetition; empty: none is late with certainty
  std::vector<LateRank>
      suspected;                // of the last repetition, where `late` is empty: too few steps to be certain
  Number straggler_wait_share;  // of the step: waiting for ranks that were not ready
  Number communication_share;   // of the step: exposed communication after the last rank was ready
  Number exposed_share;         // of the step: both together
  Number overlap_ratio;         // share of the exchange of gradients that the backward pass hid
  Number data_wait_share;       // of the step
  Number straggler_index;       // median over steps of max over ranks / median over ranks of the compute time
  Count straggler_rank;         // one that is late with certainty
  Number sync_variation;        // p95 / p50 over steps of exposed communication, mean over ranks
  Number loader_samples_per_s;  // what the loaders of all ranks could deliver
  std::string fingerprint;      // of the parameters, equal on all ranks
  CheckpointFigures checkpoints;
  std::vector<RestartFigures> restarts;
  std::vector<std::string> notes;  // what a reader of the figures must know
};

// LossPart::name.
// Benchmark::params of a case that was read from a recording of another program: it has no plan whose options
// could be changed, and may lack ranks.
inline constexpr const char* kTraces = "traces";

namespace loss_part {
inline constexpr const char* kExposedCommunication = "exposed_communication";
inline constexpr const char* kStragglerWait = "straggler_wait";
inline constexpr const char* kDataWait = "data_wait";
inline constexpr const char* kDdpOverhead = "ddp_overhead";
inline constexpr const char* kContention = "contention";
inline constexpr const char* kUnexplained = "unexplained";
}  // namespace loss_part

// A part of the time that a step takes beyond the ideal.
struct LossPart {
  std::string name;  // one of loss_part, or of a newer version
  Estimate cost_ns;  // per step
  Number share;      // of the gap
};

// Compared with the smallest world of the plan with the same work per rank (methodology: scaling efficiency).
struct Scaling {
  std::string base_case_id;
  std::int64_t base_world = 1;
  std::int64_t world = 1;
  Number efficiency;  // T(base) / T(this), medians of the step time
  Number ci_low, ci_high;
  Number speedup;                  // of throughput: efficiency x world / base_world
  bool superlinear = false;        // its interval is above 1: look for another cause
  std::vector<LossPart> budget{};  // they add up to the difference of the mean steps
};

}  // namespace paceline::result
