// SPDX-License-Identifier: MIT
#include "workload/inference/gate/output_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/lower_case.h"

namespace paceline::workload {
namespace {

constexpr std::int64_t kMostBoxes = 2000;  // an output with more is a map of proposals before any selection

bool contains_any(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return text.find(word) != std::string::npos; });
}

// Types of 8 bits are left out: they are most often quantised numbers or pictures.
constexpr std::array kIntegerTypes{DType::kInt64,  DType::kInt32,  DType::kInt16, DType::kUInt64,
                                   DType::kUInt32, DType::kUInt16, DType::kBool};

bool is_integer(const ComparedRows& rows) {
  return rows.dtype &&
         std::find(kIntegerTypes.begin(), kIntegerTypes.end(), *rows.dtype) != kIntegerTypes.end();
}

bool has_rows_of_boxes(const ComparedRows& rows) {
  return rows.sample_shape.size() == 2 && rows.length >= kCoordinates;
}

bool can_be_boxes(const ComparedRows& rows) {
  return has_rows_of_boxes(rows) && rows.positions == rows.all_positions;
}

bool named_boxes(const ComparedRows& rows) {
  return contains_any(lower_case(rows.name), {"box"}) && can_be_boxes(rows) && rows.length == kCoordinates &&
         rows.positions <= kMostBoxes;
}

bool named_vectors(const ComparedRows& rows) {
  return contains_any(lower_case(rows.name), {"embed", "hidden", "pooler", "feature"}) && rows.length > 1 &&
         rows.sample_shape.size() <= 2;
}

bool named_token_scores(const ComparedRows& rows) {
  return contains_any(lower_case(rows.name), {"logit"}) && rows.sample_shape.size() == 2 && rows.length > 1;
}

bool one_row(const ComparedRows& rows) {
  return rows.all_positions == 1 && rows.length > 1;
}

bool many_rows(const ComparedRows& rows) {
  return rows.all_positions > 1 && rows.all_positions * rows.length > 1 && rows.sample_shape.size() >= 2;
}

struct Guess {
  bool (*holds)(const ComparedRows&);
  const char* kind;
  const char* because;  // {name}, {type}, {shape} are filled in
};

constexpr std::array kGuesses{
    Guess{is_integer, kIntegers, "its elements are {type}"},
    Guess{named_boxes, kBoxes, "its name is '{name}' and an input has [{shape}]"},
    Guess{named_vectors, kEmbedding, "its name is '{name}'"},
    Guess{named_token_scores, kTokens, "its name is '{name}' and an input has [{shape}]"},
    Guess{one_row, kClasses, "an input has one row of scores"},
    Guess{many_rows, kDense, "an input has [{shape}]"},
};

std::string shape_of(const ComparedRows& rows) {
  return fmt::format("{}", fmt::join(rows.sample_shape, ", "));
}

// Boxes are matched in any order, so none may have been thinned out.
void require_boxes(const ComparedRows& rows) {
  if (!has_rows_of_boxes(rows))
    throw Error(
        ErrorCode::kConfig,
        fmt::format(
            "accuracy.answers 'boxes' needs rows of at least four numbers; an input of output '{}' has [{}]",
            rows.name, shape_of(rows)));
  if (can_be_boxes(rows)) return;
  const bool fewer_help = rows.all_positions * rows.length <= kThinAbove;
  throw Error(ErrorCode::kConfig,
              fmt::format("accuracy.answers 'boxes' needs all rows of an input; of output '{}' only {} of {} "
                          "are kept{}. Write {}--accuracy-answers dense, which judges the rows that are kept",
                          rows.name, rows.positions, rows.all_positions,
                          fewer_help ? fmt::format(" for {} inputs", rows.samples) : ", it is so large",
                          fewer_help ? "a smaller --accuracy-samples, or " : ""));
}

}  // namespace

OutputKind kind_of(const ComparedRows& rows, const std::string& asked, const std::string& asked_because) {
  if (asked == kBoxes) require_boxes(rows);
  if (asked != kAutoKind) return {asked, asked_because};
  for (const auto& guess : kGuesses)
    if (guess.holds(rows))
      return {guess.kind, fmt::format(fmt::runtime(guess.because), fmt::arg("name", rows.name),
                                      fmt::arg("shape", shape_of(rows)),
                                      fmt::arg("type", rows.dtype ? dtype_name(*rows.dtype) : "float32"))};
  return {kNoKind, "an input has a single number"};
}

}  // namespace paceline::workload
