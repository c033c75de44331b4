// SPDX-License-Identifier: MIT
// Limits of a pass that compares outputs, and further questions.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace paceline::pass {

// Limits of one output.
struct Tolerance {
  double max_rel_err = 0;
  double centred_cosine = 0;
  double max_abs_err = 0;  // an error up to this is accepted whatever its relative size
  // Limit of the 0.98 quantile of the errors, over the reference's standard deviation.
  double quantile_err = 0;
  bool max_decides =
      true;          // fp32, and where the user wrote max_rel_err; else the kind of output says which figure
  double scale = 0;  // that standard deviation, where it is known from more samples; 0: of those compared
  // Limit of the root mean square of the errors in units of the reference's yardstick; 0: the limits above
  // decide, as where there is no yardstick.
  double ulps = 0;
  bool rounds = false;            // the precision is lower than the reference's: rounding may cost much
  bool quantile_written = false;  // by the user: it decides for maps in fp32, too
};

// Limits that hold once the precision of a file was read back.
struct PrecisionLimits {
  std::string precision;
  Tolerance tolerance;
  double max_changed = 1;
  bool outputs_decide_too = false;
  bool needs_evidence = false;
  bool eight_bits = false;
};

// Questions about accuracy besides the tolerance of the outputs (workload/inference/gate/accuracy_gate.h).
struct AccuracyQuestion {
  std::string answers = "none";     // what the first output is: auto, or a kind (output_kind.h)
  std::string answers_because;      // who says so, where it is not guessed
  bool trained = false;             // weights from a file; random ones answer nearly alike to every input
  bool outputs_decide_too = false;  // where the answers decide: limits the user wrote, and fp32
  double max_changed = 1;           // accepted share of changed answers
  double claim = 0;                 // "top-1 changes by less than this"; 0: nothing is claimed
  std::string inputs;               // where they are from, in words
  std::int64_t samples_asked = 0;
  std::int64_t samples_given = 0;  // in the user's files; 0: generated
  std::int64_t least_samples = 0;  // after which a slow reference may stop; 0: it runs all
  std::string labels_file;
  std::vector<std::int64_t> labels;  // one per sample; empty: none
  std::string expected_file;         // the reference outputs are the user's; empty: an engine made them
  bool generated = false;            // the inputs are random numbers: answers to them mean nothing
  bool needs_evidence = false;       // answers decide only where the inputs bound their change (int8)
  bool eight_bits = false;           // int8 without limits of the user's own
  bool yardsticks = true;            // of a reference pass: measure them too
  bool unit_only = false;            // of them: what moved inputs and weights change
  bool every_change = false;         // of them: all that may set the unit, not the first that does
  std::string unchecked_because;     // why nothing is compared, where there is no reference
  std::string independence;          // why the reference is not independent; empty: it is
  std::string refused_by;            // an engine that was asked for the reference and cannot run the file
  std::string witness_file;          // the same by another engine, which may confirm the reference; or empty
  std::string witness_name;
  std::string engine_file;  // the unoptimised run of the case's own quantised file; or empty
  bool is_own_run = false;  // the reference is that run: nothing is asked about the format
  std::string engine_name;  // in words
};

}  // namespace paceline::pass
