// SPDX-License-Identifier: MIT
// Part of PassSpec for passes of an inference case: its inputs, how they arrive, what its outputs are
// compared with.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "pass/accuracy_spec.h"
#include "pass/load_spec.h"

namespace paceline::pass {

inline constexpr std::int64_t kNoTurns = -1;
inline constexpr std::int64_t kNoGap = -1;  // nobody asked for one, which is not a gap of 0

// Sizes of the inputs, none above those of the pass.
struct NewShape {
  std::string name;  // "batch 4", "1x32"
  std::vector<Shape> sizes;
};

struct InferenceSpec {
  std::vector<std::string> input_files;  // .npy, one per input, laid out as in input_layout.h
  // The dimension of each input that is the batch, -1: none; empty: dimension 0 of every input.
  std::vector<std::int64_t> batch_dimensions;
  std::int64_t samples = 1;    // wanted for checks, a multiple of batch; the files may hold fewer
  std::string reference_file;  // .npy: written by the reference pass, read by the others; empty: no check
  std::string reference_name;  // in words, for the result; empty: accuracy says why there is none
  std::string dump_folder;     // of a check pass: where its inputs and outputs are written; empty: nowhere
  Tolerance tolerance;
  std::vector<Tolerance> output_tolerances;  // of a timed pass: one an output; empty: `tolerance` for all
  std::vector<PrecisionLimits> limits;  // of a check pass: the row of the precision that ran replaces them
  AccuracyQuestion accuracy;
  std::string cache_mode = "warm";   // warm | cold: emptied before every sample
  std::int64_t gap_ns = kNoGap;      // slept before each sample of a timed pass
  std::vector<NewShape> new_shapes;  // run twice after the timed loop
  // OUTPUT:INPUT each: what an inference gives the next one, outside its time.
  std::vector<std::string> feedback;
  LoadSpec load;
  // File that a timed pass waits for if its check follows its loop; it contains its spec with what the check
  // brought, or null. Empty: the check was before it.
  std::string check_file;
  std::int64_t seat = kNoTurns;  // of a timed pass that works in turns with others (measure/turns.h)
  std::string alone = "there is no other case";  // why it does not
};

}  // namespace paceline::pass
