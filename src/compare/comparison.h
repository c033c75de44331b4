// SPDX-License-Identifier: MIT
// Comparison of two or more sides as plain data: what was compared, how, and what may be claimed.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/difference/explanation.h"
#include "base/maybe.h"
#include "stats/compare.h"
#include "stats/interval.h"

namespace paceline::compare {

// kInTurns: both processes of a pair are resident and work in short blocks; kAlternating: one process after
// the other, A B B A; kApart: neither, so that drift of the machine is in every difference.
enum class Pairing : std::uint8_t { kInTurns, kAlternating, kApart };
std::string_view pairing_name(Pairing pairing);   // in files: in_turns
std::string_view pairing_words(Pairing pairing);  // "one process after the other"

struct Side {
  std::string name;  // A, B, C, …
  std::string what;  // in words: the folder of its run, a command, an installation
  std::string run_id{};
};

// kRatio: B / A; kDifference: B - A, of shares.
enum class Scale : std::uint8_t { kRatio, kDifference };

// One figure of a case on two sides. `change` is on the scale.
struct Figure {
  std::string name{};   // as in the table of metrics, or with a size: p50_ms
  std::string title{};  // "p50", "all_reduce 64 KiB"
  std::string unit{};
  stats::Better better = stats::Better::kLower;
  Scale scale = Scale::kRatio;
  bool decides = false;  // its verdict is one of the comparison's
  Number a{}, b{};       // in `unit`
  Number change{};
  std::optional<stats::Interval> ci{};
  double confidence = 0.95;
  double delta = 0.03;     // margin: smaller changes count as equal
  std::int64_t pairs = 0;  // of processes; apart: what `counted` says, of the side with fewer
  std::string counted = "process";
  // Two-sided sign test; of answers to the same inputs McNemar's exact one.
  Number p = Number::missing("not measured in pairs");
  Number p_holm = p;  // of all figures that decide, together
  stats::Verdict verdict = stats::Verdict::kInconclusive;
  stats::Verdict shows = verdict;  // what the interval shows where the verdict may not say it
  std::string doubt{};             // why there is no verdict, or a direction alone; empty: none
};

// An explanation by other parts than those of the case itself.
struct FurtherWhy {
  std::string of;  // "all-reduces by size", "operators"
  analysis::difference::Explanation why;
};

// One case on both sides. A side's outcome in words where it has no figures.
struct ComparedCase {
  std::string label;
  std::size_t side = 1;  // index of the side that is compared with the first one
  std::string id_a, id_b;
  std::string differs{};  // words in which the two cases differ: "onnxruntime → openvino"; empty: in none
  Pairing pairing = Pairing::kApart;
  std::string failed_a{}, failed_b{};
  bool skipped_b = false;  // B could not run here, which is no failure
  std::vector<Figure> figures{};
  std::optional<analysis::difference::Explanation>
      why{};                          // of what is not equal; empty: nothing was looked at
  std::vector<FurtherWhy> further{};  // only those that claim something
};

// A case without a partner.
struct Unmatched {
  std::size_t side = 0;
  std::string label;
};

struct EnvironmentDifference {
  std::string name;  // "CPU model", "library LibTorch"
  std::string a, b;
  std::size_t side = 1;
  bool blocks = false;  // it may explain a change by itself, so that the code cannot be blamed
};

// Work that no side can change, measured before each process: whether the machine itself drifted.
struct Control {
  Figure figure;
  bool moved = false;  // beyond what equal sides may show: no verdict holds
};

struct Comparison {
  std::string subject;  // "2 runs", "2 commands"
  std::vector<Side> sides;
  Pairing pairing = Pairing::kApart;  // the weakest of all cases
  std::string block_order{};          // "ABBA BAAB …"; empty: sides were not measured in blocks
  std::vector<EnvironmentDifference> environment{};
  bool allow_env_diff = false;
  std::optional<Control> control{};
  std::vector<ComparedCase> cases{};
  std::vector<Unmatched> unmatched{};
  std::vector<std::string> remarks{};
  std::string again{};  // the command that measures all sides in turns
};

// Why no verdict may blame the code, in words; empty: nothing is in the way.
std::string blocked_by(const Comparison& comparison);

// The figures that decide about a case; the first is its headline.
std::vector<const Figure*> deciding(const ComparedCase& one);

}  // namespace paceline::compare
