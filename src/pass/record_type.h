// SPDX-License-Identifier: MIT
// Row of a record type for its readers, and the two halves of which most types consist.
#pragma once
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "base/archive.h"
#include "base/error.h"
#include "base/json.h"

namespace paceline::pass {

using Json = nlohmann::json;
struct PassReport;

// One row per type, beside its makers.
struct RecordType {
  std::string_view name;
  void (*take)(PassReport&, const Json&);
  bool part = false;  // its results are valid without those that follow: one size of a sweep, one round
};

inline Json record(const char* type, const char* key, Json value) {
  return {{"type", type}, {key, std::move(value)}};
}

template <typename T>
void read(const Json& from, const char* key, T& into) {
  if (!from.contains(key))
    throw Error(ErrorCode::kData, fmt::format("a '{}' record lacks '{}'", from.value("type", "?"), key));
  archive::Reader::read(from.at(key), key, into);
}

}  // namespace paceline::pass
