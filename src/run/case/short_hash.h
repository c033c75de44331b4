// SPDX-License-Identifier: MIT
// Names files after what they are made of: 16 hexadecimal digits, equal for equal JSON.
#pragma once
#include <string>

#include "base/json.h"
#include "base/sha256.h"

namespace paceline::run {

// 16 hexadecimal digits that tell what something is made of: equal for equal JSON.
inline std::string short_hash(const nlohmann::json& json) {
  return sha256_hex(json.dump()).substr(0, 16);
}

}  // namespace paceline::run
