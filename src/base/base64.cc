// SPDX-License-Identifier: MIT
#include "base/base64.h"

#include <openssl/evp.h>

namespace paceline {
namespace {

constexpr std::size_t kGroupBytes = 3, kGroupLetters = 4;

}  // namespace

std::string base64_of(std::span<const std::uint8_t> bytes) {
  const std::size_t letters = (bytes.size() + kGroupBytes - 1) / kGroupBytes * kGroupLetters;
  std::vector<unsigned char> text(letters + 1);  // libcrypto adds a zero
  EVP_EncodeBlock(text.data(), bytes.data(), static_cast<int>(bytes.size()));
  return {text.begin(), text.end() - 1};
}

std::optional<std::vector<std::uint8_t>> base64_bytes(std::string_view text) {
  if (text.size() % kGroupLetters != 0) return std::nullopt;
  const std::vector<unsigned char> letters(text.begin(), text.end());
  std::vector<std::uint8_t> bytes(letters.size() / kGroupLetters * kGroupBytes);
  if (letters.empty()) return bytes;
  if (EVP_DecodeBlock(bytes.data(), letters.data(), static_cast<int>(letters.size())) < 0)
    return std::nullopt;
  const auto padding = text.ends_with("==") ? 2U : text.ends_with('=') ? 1U : 0U;
  bytes.resize(bytes.size() - padding);  // libcrypto counts the padding as zeros
  return bytes;
}

}  // namespace paceline
