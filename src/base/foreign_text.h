// SPDX-License-Identifier: MIT
// Limits of files and answers that others wrote, in one table, which SECURITY.md repeats.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/refusal.h"

namespace paceline {

enum class Foreign {
  kPlan,
  kEngineConfig,
  kResult,
  kRows,
  kRecords,
  kCheckpoint,
  kPretrained,
  kManifest,
  kTable,
  kCalibration,
  kTensors,
  kMachine,
  kAnswer,
  kArrays,
  kRecording,
  kLive,
  kNsightDatabase,
  kNsightTable,
  kNetwork,
  kModel,
  kTrace,
  kUnpackedTrace,
  kSchedule,
  kStepRecords,
  kCifar,
  kImage,  // the last one
};

inline constexpr std::size_t kMostNested = 64;             // objects and lists of JSON inside each other
inline constexpr std::uint64_t kMostValues = 100'000'000;  // in one text of JSON
inline constexpr std::size_t kMostMistakes = 100;          // shown of one plan or command line
inline constexpr std::size_t kMostFacts = 2000;            // of one machine
inline constexpr std::size_t kLiveText = 200;              // bytes of a text of live.json
inline constexpr std::size_t kMostLiveRuns = 100;
inline constexpr std::size_t kMostPoints = 10'000;         // of one figure in one snapshot
inline constexpr double kNsightSeconds = 60;               // for all queries of one database
inline constexpr std::int64_t kNsightRows = 15'000'000;    // of all its tables
inline constexpr std::int64_t kNsightHeap = 1LL << 30;     // of the library
inline constexpr std::uint64_t kNsightTexts = 2ULL << 30;  // bytes of names that are kept
inline constexpr std::size_t kNsightPlaces = 1024;         // devices of processes
inline constexpr std::size_t kNsightVisits = 50'000'000;   // of work by ranges that overlap
inline constexpr std::size_t kNsightCells = 10'000'000;

struct ForeignLimit {
  Foreign what;
  std::string_view reader;  // what is read, for people
  std::uint64_t bytes;
  std::size_t depth;      // 0: nothing can be nested
  std::string_view time;  // what bounds it
};

std::span<const ForeignLimit> foreign_limits();
const ForeignLimit& limit_of(Foreign what);

// The whole file, if it is not larger than its kind may be. Throws as read_limited() does.
std::string read_foreign(const std::filesystem::path& file, Foreign what);

// Reads a file of a run folder so, where a pipe or a device has no place.
std::string read_stored(const std::filesystem::path& file, Foreign what);

// Why the file is too large for its kind, in words that follow its name; none: it is not.
Refusal too_large(const std::filesystem::path& file, Foreign what);

}  // namespace paceline
