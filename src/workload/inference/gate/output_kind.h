// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

#include "workload/inference/gate/compared_rows.h"

// Tells what an output is, which decides how its differences are judged (docs/methodology.md, accuracy).
namespace paceline::workload {

inline constexpr const char* kAutoKind = "auto";
inline constexpr const char* kClasses = "classes";      // one row of class scores per input
inline constexpr const char* kTokens = "tokens";        // one row of scores per position
inline constexpr const char* kDense = "dense";          // a map: one value per place
inline constexpr const char* kEmbedding = "embedding";  // vectors of which the direction counts
inline constexpr const char* kBoxes = "boxes";          // rows that begin with four coordinates, in any order
inline constexpr const char* kIntegers = "integers";    // ids, counts, flags: equal or not
inline constexpr const char* kNoKind = "none";          // none of those
inline constexpr std::int64_t kCoordinates = 4;         // of a box

struct OutputKind {
  std::string kind;
  std::string because;
};

// The kind by name, element type and shape where `asked` is auto, else `asked`, for which `asked_because`
// gives the reason. Throws Error(kConfig) for boxes whose rows hold fewer than four numbers, or of which rows
// are missing.
OutputKind kind_of(const ComparedRows& rows, const std::string& asked, const std::string& asked_because);

}  // namespace paceline::workload
