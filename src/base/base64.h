// SPDX-License-Identifier: MIT
// Base64 (RFC 4648, with padding, without line breaks) by libcrypto.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline {

std::string base64_of(std::span<const std::uint8_t> bytes);
// Returns nothing for text that is not base64.
std::optional<std::vector<std::uint8_t>> base64_bytes(std::string_view text);

}  // namespace paceline
