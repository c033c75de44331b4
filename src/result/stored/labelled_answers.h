// SPDX-License-Identifier: MIT
// Which labelled inputs a model answered rightly, one bit per input, so that two runs can be compared input
// by input.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace paceline::result {

struct LabelledAnswers {
  // SHA-256 of the inputs and their labels in order; equal ones are of the same inputs. Empty: not known.
  std::string inputs_sha256;
  // Bit i (the lowest of a byte first): input i was answered rightly. Base64; empty: not stored.
  std::string right_base64;
};

// More inputs are not stored one by one.
inline constexpr std::size_t kMostStoredAnswers = 1'000'000;

// The text of `right_base64`; empty beyond kMostStoredAnswers.
std::string stored_answers(const std::vector<bool>& right);
// Reads them again; nothing if they are not stored, or are not of that many inputs.
std::optional<std::vector<bool>> read_answers(const LabelledAnswers& answers, std::int64_t inputs);

}  // namespace paceline::result
