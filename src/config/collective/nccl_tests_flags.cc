// SPDX-License-Identifier: MIT
// Flags of nccl-tests: those that comm takes, and what is written here for the others.
#include <array>

#include "config/older_flag_rows.h"
#include "config/option_rows.h"

namespace paceline::config {
namespace {

using enum Support;

constexpr std::string_view kNcclTests = "nccl-tests";
constexpr unsigned kComm = command_of(WorkloadKind::kCollective);

constexpr std::array kNcclTestsFlags{
    OlderFlag{kNcclTests, "-b", "--min-bytes SIZE", kComm, kTaken},
    OlderFlag{kNcclTests, "-e", "--max-bytes SIZE", kComm, kTaken},
    OlderFlag{kNcclTests, "-i", "--step-bytes SIZE", kComm, kTaken},
    OlderFlag{kNcclTests, "-f", "--step-factor X", kComm, kTaken},
    OlderFlag{kNcclTests, "-n", "--iterations N", kComm, kTaken},
    OlderFlag{kNcclTests, "-w", "--warmup-iterations N", kComm, kTaken},
    OlderFlag{kNcclTests, "-c", "--check N", kComm, kTaken},
    OlderFlag{kNcclTests, "-o", "`--reduction sum`; lists, and all of them", kComm, kTaken},
    OlderFlag{kNcclTests, "-d", "`--dtype float`; lists, and all of them", kComm, kTaken},
    OlderFlag{kNcclTests, "-r", "--root RANK", kComm, kTaken},
    OlderFlag{kNcclTests, "-g", "`--ranks N`; each is a process", kComm, kTaken},
    OlderFlag{kNcclTests, "-J", "--nccl-json FILE", kComm, kTaken},
    OlderFlag{kNcclTests, "--minbytes", "--min-bytes SIZE", kComm, kTaken},
    OlderFlag{kNcclTests, "--maxbytes", "--max-bytes SIZE", kComm, kTaken},
    OlderFlag{kNcclTests, "--stepbytes", "--step-bytes SIZE", kComm, kTaken},
    OlderFlag{kNcclTests, "--stepfactor", "--step-factor X", kComm, kTaken},
    OlderFlag{kNcclTests, "--iters", "--iterations N", kComm, kTaken},
    OlderFlag{kNcclTests, "--warmup_iters", "--warmup-iterations N", kComm, kTaken},
    OlderFlag{kNcclTests, "--check", "--check N", kComm, kTaken},
    OlderFlag{kNcclTests, "--op", "`--reduction sum`; lists, and all of them", kComm, kTaken},
    OlderFlag{kNcclTests, "--datatype", "`--dtype float`; lists, and all of them", kComm, kTaken},
    OlderFlag{kNcclTests, "--root", "--root RANK", kComm, kTaken},
    OlderFlag{kNcclTests, "--ngpus", "`--ranks N`; each is a process", kComm, kTaken},
    OlderFlag{kNcclTests, "--output_file", "--nccl-json FILE", kComm, kTaken},
    OlderFlag{kNcclTests, "--timeout", "--group-timeout-s S", kComm, kTaken},
    OlderFlag{kNcclTests, "-t", "`--ranks N`; a rank is a process here, never a thread", kComm,
              Support::kHint, "1"},
    OlderFlag{kNcclTests, "--nthreads", "`--ranks N`; a rank is a process here, never a thread", kComm,
              Support::kHint, "1"},
    OlderFlag{kNcclTests, "-I", "nothing; operations are timed one by one as well, and every one is kept",
              kComm, Support::kHint, "0,1"},
    OlderFlag{kNcclTests, "--per_iter_timing",
              "nothing; operations are timed one by one as well, and every one is kept", kComm,
              Support::kHint, "0,1"},
    OlderFlag{kNcclTests, "-K", "nothing; the first operations are those of the warm-up, `-w N`", kComm,
              Support::kHint, "0"},
    OlderFlag{kNcclTests, "--per_iter_skip", "nothing; the first operations are those of the warm-up, `-w N`",
              kComm, Support::kHint, "0"},
    OlderFlag{kNcclTests, "-a", "nothing; the time of every rank is in collective_times.csv", kComm,
              Support::kHint, "1"},
    OlderFlag{kNcclTests, "--average", "nothing; the time of every rank is in collective_times.csv", kComm,
              Support::kHint, "1"},
    OlderFlag{kNcclTests, "-m", "nothing; each operation is a separate call", kComm, Support::kHint, "1"},
    OlderFlag{kNcclTests, "--agg_iters", "nothing; each operation is a separate call", kComm, Support::kHint,
              "1"},
    OlderFlag{kNcclTests, "-z",
              "nothing; `stream` and `batch` are back to back, the others wait for each operation", kComm,
              Support::kHint, "0"},
    OlderFlag{kNcclTests, "--blocking",
              "nothing; `stream` and `batch` are back to back, the others wait for each operation", kComm,
              Support::kHint, "0"},
    OlderFlag{kNcclTests, "-G", "nothing; operations are not captured in CUDA graphs yet", kComm,
              Support::kHint, "0"},
    OlderFlag{kNcclTests, "--cudagraph", "nothing; operations are not captured in CUDA graphs yet", kComm,
              Support::kHint, "0"},
    OlderFlag{kNcclTests, "-R", "nothing; buffers are not registered with NCCL yet", kComm, Support::kHint,
              "0"},
    OlderFlag{kNcclTests, "--local_register", "nothing; buffers are not registered with NCCL yet", kComm,
              Support::kHint, "0"},
    OlderFlag{kNcclTests, "-N", "`--repetitions N`, each with fresh processes", kComm, Support::kHint, "1"},
    OlderFlag{kNcclTests, "--run_cycles", "`--repetitions N`, each with fresh processes", kComm,
              Support::kHint, "1"},
    OlderFlag{kNcclTests, "-T", "--group-timeout-s S", kComm, kTaken},
    OlderFlag{kNcclTests, "-M", "nothing; the memory per rank is in the result", kComm, Support::kHint, "0"},
    OlderFlag{kNcclTests, "--memory", "nothing; the memory per rank is in the result", kComm, Support::kHint,
              "0"},
    OlderFlag{kNcclTests, "--memory_report", "nothing; the memory per rank is in the result", kComm,
              Support::kHint, "0"},
    OlderFlag{kNcclTests, "-p", "nothing; ranks always begin together", kComm, Support::kHint, "0"},
    OlderFlag{kNcclTests, "--parallel_init", "nothing; ranks always begin together", kComm, Support::kHint,
              "0"},
    OlderFlag{kNcclTests, "-y", "nothing; operations run on a separate stream", kComm, Support::kHint, "0"},
    OlderFlag{kNcclTests, "--stream_null", "nothing; operations run on a separate stream", kComm,
              Support::kHint, "0"},
    OlderFlag{kNcclTests, "-C", "nothing; times are from the start of an operation to its end, not the CPU's",
              kComm, Support::kHint, "0"},
    OlderFlag{kNcclTests, "--report_cputime",
              "nothing; times are from the start of an operation to its end, not the CPU's", kComm,
              Support::kHint, "0"},
    OlderFlag{kNcclTests, "-S", "nothing; a result has the time of its start, and a row has none", kComm,
              Support::kHint, "0"},
    OlderFlag{kNcclTests, "--report_timestamps",
              "nothing; a result has the time of its start, and a row has none", kComm, Support::kHint, "0"},
    OlderFlag{kNcclTests, "-x", "nothing; the policy for CTAs is NCCL's default", kComm, Support::kHint, "0"},
    OlderFlag{kNcclTests, "--cta_policy", "nothing; the policy for CTAs is NCCL's default", kComm,
              Support::kHint, "0"},
    OlderFlag{kNcclTests, "-D", "nothing; the operations are NCCL's own, never those of its device API",
              kComm, Support::kHint, "0"},
    OlderFlag{kNcclTests, "--device_implementation",
              "nothing; the operations are NCCL's own, never those of its device API", kComm, Support::kHint,
              "0"},
    OlderFlag{kNcclTests, "-V", "nothing; it counts for the device API alone, which is not used", kComm,
              Support::kHint, "16"},
    OlderFlag{kNcclTests, "--device_cta_count",
              "nothing; it counts for the device API alone, which is not used", kComm, Support::kHint, "16"},
    OlderFlag{kNcclTests, "-u", "nothing; buffers are always aligned", kComm, Support::kHint, "0"},
    OlderFlag{kNcclTests, "--unalign", "nothing; buffers are always aligned", kComm, Support::kHint, "0"},
};

constexpr std::array kTypeNames{
    OlderValue{"dtype", "float16", "half"},   OlderValue{"dtype", "fp16", "half"},
    OlderValue{"dtype", "float32", "float"},  OlderValue{"dtype", "fp32", "float"},
    OlderValue{"dtype", "float64", "double"}, OlderValue{"dtype", "fp64", "double"},
    OlderValue{"dtype", "bf16", "bfloat16"},
};

// The letters and words of comm that are those of nccl-tests.
constexpr std::array kFlagsOfComm{OwnFlags{"dtypes", "-d,--datatype"},
                                  OwnFlags{"reductions", "-o,--op"},
                                  OwnFlags{"min_bytes", "-b,--minbytes"},
                                  OwnFlags{"max_bytes", "-e,--maxbytes"},
                                  OwnFlags{"step_factor", "-f,--stepfactor"},
                                  OwnFlags{"step_bytes", "-i,--stepbytes"},
                                  OwnFlags{"root", "-r"},
                                  OwnFlags{"warmup_iterations", "-w"},
                                  OwnFlags{"iterations", "-n"},
                                  OwnFlags{"check", "-c"},
                                  OwnFlags{"gpu_counts", "-g,--ngpus", true},
                                  OwnFlags{"nccl_json", "-J,--output-file"},
                                  OwnFlags{"group_timeout_s", "-T,--timeout"}};

}  // namespace

std::span<const OwnFlags> own_flags_of_comm() {
  return kFlagsOfComm;
}

std::span<const OlderFlag> flags_of_nccl_tests() {
  return kNcclTestsFlags;
}

std::span<const OlderValue> values_of_nccl_tests() {
  return kTypeNames;
}

}  // namespace paceline::config
