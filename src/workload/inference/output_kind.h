// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

#include "workload/inference/compared_rows.h"

// What an output is, which says how its differences are judged (docs/methodology.md, accuracy).
namespace paceline::workload {

inline constexpr const char* kAutoKind = "auto";
inline constexpr const char* kClasses = "classes";      // a row of class scores an input
inline constexpr const char* kTokens = "tokens";        // a row of scores a position
inline constexpr const char* kDense = "dense";          // a map: a value a place
inline constexpr const char* kEmbedding = "embedding";  // vectors whose direction is what counts
inline constexpr const char* kBoxes = "boxes";          // rows that begin with four coordinates, in any order
inline constexpr const char* kIntegers = "integers";    // ids, counts, flags: equal or not
inline constexpr const char* kNoKind = "none";          // none of those
inline constexpr std::int64_t kCoordinates = 4;         // a box has

struct OutputKind {
  std::string kind;
  std::string because;
};

// By name, element type and shape, where `asked` is auto; else what was asked, `asked_because` whoever said
// so. Throws Error(kConfig) for boxes whose rows hold fewer than four numbers, or
// of which rows are missing.
OutputKind kind_of(const ComparedRows& rows, const std::string& asked, const std::string& asked_because);

}  // namespace paceline::workload
