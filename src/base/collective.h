// SPDX-License-Identifier: MIT
// Collective operations between ranks, and the facts that plans, plug-ins and figures share about them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/tensor.h"

namespace paceline {

enum class Collective : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAllToAll,
  kSendRecv,  // every rank sends to the next one, the last one to rank 0
  kBarrier
};

// How many times the bytes of an operation cross the slowest link, for n ranks: busbw = algbw x this
// (nccl-tests, doc/PERFORMANCE.md).
enum class BusFactor : std::uint8_t { kOne, kAllButOne, kTwiceAllButOne };

struct CollectiveRow {
  Collective operation;
  std::string_view name;
  BusFactor bus = BusFactor::kOne;
  bool reduces = false;   // has a reduction operator
  bool rooted = false;    // has a root rank
  bool per_rank = false;  // its size is that of a block for every rank, together
  bool in_place = true;   // input and output may share memory
};
inline constexpr std::array<CollectiveRow, 8> kCollectives{{
    {Collective::kAllReduce, "all_reduce", BusFactor::kTwiceAllButOne, true},
    {Collective::kAllGather, "all_gather", BusFactor::kAllButOne, false, false, true},
    {Collective::kReduceScatter, "reduce_scatter", BusFactor::kAllButOne, true, false, true},
    {Collective::kBroadcast, "broadcast", BusFactor::kOne, false, true},
    {Collective::kReduce, "reduce", BusFactor::kOne, true, true},
    {Collective::kAllToAll, "all_to_all", BusFactor::kAllButOne, false, false, true, false},
    {Collective::kSendRecv, "send_recv", BusFactor::kOne, false, false, false, false},
    {Collective::kBarrier, "barrier", BusFactor::kOne, false, false, false, false},
}};
constexpr const CollectiveRow& row_of(Collective operation) {
  return kCollectives.at(static_cast<std::size_t>(operation));
}
constexpr std::optional<Collective> parse_collective(std::string_view name) {
  for (const auto& row : kCollectives)
    if (row.name == name) return row.operation;
  return std::nullopt;
}

// For at least two ranks; a single one has no bus.
constexpr double bus_factor(Collective operation, std::int64_t ranks) {
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (row_of(operation).bus) {
    case BusFactor::kOne:
      return 1;
    case BusFactor::kAllButOne:
      return others;
    case BusFactor::kTwiceAllButOne:
      return 2 * others;
  }
  return 1;
}

enum class Reduction : std::uint8_t { kSum, kProd, kMin, kMax, kAvg };
struct ReductionRow {
  Reduction reduction;
  std::string_view name;
};
inline constexpr std::array<ReductionRow, 5> kReductions{{{Reduction::kSum, "sum"},
                                                          {Reduction::kProd, "prod"},
                                                          {Reduction::kMin, "min"},
                                                          {Reduction::kMax, "max"},
                                                          {Reduction::kAvg, "avg"}}};
constexpr std::string_view reduction_name(Reduction reduction) {
  return kReductions.at(static_cast<std::size_t>(reduction)).name;
}

// Element types by the names of nccl-tests.
struct CollectiveDType {
  std::string_view name;
  DType dtype;
};
inline constexpr std::array<CollectiveDType, 10> kCollectiveDTypes{{{"int8", DType::kInt8},
                                                                    {"uint8", DType::kUInt8},
                                                                    {"int32", DType::kInt32},
                                                                    {"uint32", DType::kUInt32},
                                                                    {"int64", DType::kInt64},
                                                                    {"uint64", DType::kUInt64},
                                                                    {"half", DType::kFloat16},
                                                                    {"float", DType::kFloat32},
                                                                    {"double", DType::kFloat64},
                                                                    {"bfloat16", DType::kBFloat16}}};
constexpr std::string_view collective_dtype_name(DType dtype) {
  for (const auto& row : kCollectiveDTypes)
    if (row.dtype == dtype) return row.name;
  return dtype_name(dtype);
}

}  // namespace paceline
