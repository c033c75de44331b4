// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "answer/section.h"
#include "base/exit_code.h"

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
  Verdict verdict;
  std::string_view of_machine;      // a check of the machine
  std::string_view of_expectation;  // a gate, an SLO
  std::string_view element;         // of a test in JUnit; empty: it passes
  Tone tone;                        // on a terminal
  std::string_view css;             // on a page
};

inline constexpr std::array<VerdictTraits, 5> kVerdicts{{
    {Verdict::kYes, "PASS", "met", "", Tone::kPlain, "gate-met"},
    {Verdict::kReservedly, "WARN", "", "", Tone::kWarning, "gate-cannot_say"},
    {Verdict::kNo, "FAIL", "missed", "failure", Tone::kProblem, "gate-missed"},
    {Verdict::kCannotSay, "OPEN", "cannot_say", "error", Tone::kWarning, "gate-cannot_say"},
    {Verdict::kNotAsked, "SKIP", "", "skipped", Tone::kFaint, "gate-met"},
}};

constexpr const VerdictTraits& traits_of(Verdict verdict) {
  return kVerdicts.at(static_cast<std::size_t>(verdict));
}

// PASS | WARN | OPEN | FAIL | SKIP
constexpr std::string_view machine_word(Verdict verdict) {
  return traits_of(verdict).of_machine;
}

}  // namespace paceline::answer
