// SPDX-License-Identifier: MIT
// The one exception type for what a user can cause; plug-ins throw it too.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

#if defined(__GNUC__)
#define PACELINE_EXPORT __attribute__((visibility("default")))
#else
#define PACELINE_EXPORT
#endif

namespace paceline {

// The kind of an error. kUnsupported and kUnavailable end a case as "skipped", the others as "failed" or the
// run.
enum class ErrorCode {
  kUsage,        // a flag or an argument
  kConfig,       // a plan file
  kData,         // a file with wrong contents (weights, model, image, result)
  kIo,           // the file system refused
  kUnsupported,  // this machine or engine cannot do it (bf16 without hardware support)
  kUnavailable,  // a library or plug-in is missing
  kTimeout,
  kInternal,
};

// Ends a pass or a run. The message says what happened, with which value, and what to do next. Header-only
// and exported, so that plug-ins throw the same type.
class PACELINE_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace paceline
