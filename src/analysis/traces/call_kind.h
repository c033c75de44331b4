// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string_view>

// A kind of exchange between ranks, as its names say.
namespace paceline::analysis::traces {

enum class CallKind : std::uint8_t {
  kUnknown,
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kBarrier,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kSend,
  kReceive,
  kSendReceive,  // of a kernel: sends and receives, by which libraries also do collectives
  kWait,         // for an exchange that began before
};

// It ends on all ranks together.
constexpr bool ends_together(CallKind kind) {
  return kind >= CallKind::kAllReduce && kind <= CallKind::kBarrier;
}
constexpr bool is_point_to_point(CallKind kind) {
  return kind == CallKind::kSend || kind == CallKind::kReceive;
}
// A collective, whose calls are in one order on all of its ranks.
constexpr bool is_collective(CallKind kind) {
  return kind >= CallKind::kAllReduce && kind <= CallKind::kScatter;
}

// The kind of a call of the host (c10d::allreduce_, nccl:all_reduce, "_allgather_base"), or of a kernel.
CallKind kind_of_call(std::string_view name);

// "all-reduce", "all-gather"; for a kind that no name tells "other".
std::string_view word_of(CallKind kind);

// Whether a kernel of the device exchanges data between ranks: of a library, or somebody's own all-reduce.
bool is_communication_kernel(std::string_view name);

}  // namespace paceline::analysis::traces
