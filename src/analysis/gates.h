// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "result/stored/run_result.h"

// Checks the expectations of a plan: METRIC[@SELECTOR] OP VALUE, e.g. "p50_ms@resnet50/eager/b1 <= 60", or
// "p50_ms <= baseline:NAME + 3%".
namespace paceline::analysis {

struct Gate {
  std::string expression;             // as written
  std::string metric;                 // a name of the metric table
  std::vector<std::string> selector;  // words that must all match a case; empty: every case
  std::string op;                     // <= | < | >= | >
  double bound = 0;
  std::string baseline{};  // a stored run: `bound` is the share by which the figure may be worse; empty: none
};

// Throws Error(kUsage) for malformed text or an unknown metric (with the nearest name).
Gate parse_gate(std::string_view expression);

// True when every word of the selector matches the case: its model, engine, precision, layout, b<batch>, a
// word of its label, or its id. A bare number is the batch of an inference case, and the number of ranks of
// any other.
bool selects(const Gate& gate, const result::CaseResult& one);

// Whether the grade C of a case counts: somebody asked, by --strict or by a gate on a figure that noise
// spoils.
bool noise_counts(const result::RunResult& run, const result::CaseResult& one, bool strict);

// met: the whole interval satisfies the gate; missed: no part of it does; cannot_say otherwise, and for
// missing numbers. A metric without an interval by nature is decided on its value.
result::GateResult decide_gate(const Gate& gate, const result::CaseResult& one);

// One result per case with a latency objective (`slo`): its verdict.
std::vector<result::GateResult> objective_gates(const result::RunResult& run);

// One result per gate and matching case, but for gates with a baseline, which compare/baseline_gates decides.
// Throws Error(kUsage) where no case matches.
std::vector<result::GateResult> decide_gates(const std::vector<std::string>& expressions,
                                             const result::RunResult& run);

// The accuracy claims of the cases as gates: passed becomes met, cannot_claim becomes cannot_say.
std::vector<result::GateResult> accuracy_gates(const result::RunResult& run);

}  // namespace paceline::analysis
