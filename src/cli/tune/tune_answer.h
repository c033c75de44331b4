// SPDX-License-Identifier: MIT
#pragma once
#include "answer/answer.h"
#include "cli/tune/raced_arms.h"
#include "tune/conclusion.h"

namespace paceline::cli {

// Result of a search with the table of its arms, and the files that reproduce and serve it.
struct TuneOutcome {
  const TuneRequest& request;
  const RacedArms& raced;
  tune::Conclusion found;
  bool interrupted = false;
};
TuneOutcome outcome_of(const TuneRequest& request, const RacedArms& raced, bool interrupted);

answer::Answer answer_of(const TuneOutcome& outcome);

// The arm with the headline figure of the objective: "onnxruntime int8 t2: median latency 3.2 ms (3.1–3.3)".
std::string arm_words(const TuneOutcome& outcome, std::size_t arm);
// Says that batch or precision of the arm to take may change how training converges; empty: the search did
// not choose them, or chose the defaults of the command.
std::string convergence_words(const TuneOutcome& outcome);
// The answer in one sentence.
std::string sentence_of(const TuneOutcome& outcome);

}  // namespace paceline::cli
