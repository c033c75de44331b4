// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "answer/section.h"
#include "base/exit_code.h"
#include "base/worded.h"

namespace paceline::answer {

// Answer to a question that has yes or no for an answer.
enum class Verdict : std::uint8_t {
  kYes,
  kReservedly,  // yes, with something that the reader should know
  kNo,
  kCannotSay,
  kNotAsked,  // nothing to decide here
};

// How a verdict looks wherever it is shown. Words are empty where a place has no such verdict.
struct VerdictTraits {
  using Value = Verdict;
  static constexpr Verdict kDefault = Verdict::kNotAsked;

  Verdict verdict;
  std::string_view of_machine;      // a check of the machine
  std::string_view of_expectation;  // a gate, an SLO
  std::string_view of_outputs;      // the outputs of a model against a reference
  std::string_view of_claim;        // a claim on its answers
  std::string_view element;         // of a test in JUnit; empty: it passes
  Tone tone;                        // on a terminal
  std::string_view css;             // on a page
};

inline constexpr std::array<VerdictTraits, 5> kVerdicts{{
    {Verdict::kYes, "PASS", "met", "passed", "passed", "", Tone::kPlain, "gate-met"},
    {Verdict::kReservedly, "WARN", "", "", "", "", Tone::kWarning, "gate-cannot_say"},
    {Verdict::kNo, "FAIL", "missed", "failed", "failed", "failure", Tone::kProblem, "gate-missed"},
    {Verdict::kCannotSay, "OPEN", "cannot_say", "cannot_say", "cannot_claim", "error", Tone::kWarning,
     "gate-cannot_say"},
    {Verdict::kNotAsked, "SKIP", "", "unchecked", "", "skipped", Tone::kFaint, "gate-met"},
}};

constexpr const auto& rows_of(Verdict) {
  return kVerdicts;
}
constexpr const VerdictTraits& traits_of(Verdict verdict) {
  return kVerdicts.at(static_cast<std::size_t>(verdict));
}

// PASS | WARN | OPEN | FAIL | SKIP
constexpr std::string_view machine_word(Verdict verdict) {
  return traits_of(verdict).of_machine;
}

using ExpectationVerdict = Worded<&VerdictTraits::of_expectation>;
using OutputsVerdict = Worded<&VerdictTraits::of_outputs>;
using ClaimVerdict = Worded<&VerdictTraits::of_claim>;

}  // namespace paceline::answer
