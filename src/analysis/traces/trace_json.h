// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/traces/trace_bytes.h"

// Reads JSON as a stream, and forgives what profilers get wrong in it: backslashes and bytes in strings that
// JSON does not allow, and the words NaN and Infinity.
namespace paceline::analysis::traces {

// Receives the parts of JSON in order. Text is valid during the call.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void open(bool object) = 0;  // else a list
  virtual void close() = 0;
  virtual void key(std::string_view text) = 0;
  virtual void text(std::string_view text) = 0;
  virtual void number(std::string_view digits) = 0;  // as written; NaN, inf and the like, too
  virtual void word(std::string_view word) = 0;      // true, false, null
};

struct JsonProblem {
  enum class Kind : std::uint8_t { kEndsEarly, kUnexpected, kLongString, kTooDeep };
  Kind kind = Kind::kUnexpected;
  std::int64_t at = 0;  // bytes read until then
};

inline constexpr std::size_t kLongestString = 16 << 20, kDeepest = 256;

// Empty: the document was read to its end. What `events` throws passes through.
std::optional<JsonProblem> read_json(TraceBytes& bytes, JsonEvents& events);

}  // namespace paceline::analysis::traces
