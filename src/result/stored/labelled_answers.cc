// SPDX-License-Identifier: MIT
#include "result/stored/labelled_answers.h"

#include "base/base64.h"

namespace paceline::result {
namespace {

constexpr std::size_t kBitsPerByte = 8;

std::size_t bytes_of_bits(std::size_t bits) {
  return (bits + kBitsPerByte - 1) / kBitsPerByte;
}

}  // namespace

std::string stored_answers(const std::vector<bool>& right) {
  if (right.size() > kMostStoredAnswers) return {};
  std::vector<std::uint8_t> bytes(bytes_of_bits(right.size()));
  for (std::size_t i = 0; i < right.size(); ++i)
    if (right[i]) bytes[i / kBitsPerByte] |= static_cast<std::uint8_t>(1U << (i % kBitsPerByte));
  return base64_of(bytes);
}

std::optional<std::vector<bool>> read_answers(const LabelledAnswers& answers, std::int64_t inputs) {
  if (answers.right_base64.empty() || inputs <= 0) return std::nullopt;
  const auto bytes = base64_bytes(answers.right_base64);
  const auto count = static_cast<std::size_t>(inputs);
  if (!bytes || bytes->size() != bytes_of_bits(count)) return std::nullopt;
  std::vector<bool> right(count);
  for (std::size_t i = 0; i < count; ++i)
    right[i] = ((*bytes)[i / kBitsPerByte] >> (i % kBitsPerByte) & 1U) != 0;
  return right;
}

}  // namespace paceline::result
