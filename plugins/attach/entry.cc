// SPDX-License-Identifier: MIT
// C functions with plain arguments, which the hook calls by ctypes.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "attach/scope_observer.h"

namespace {

template <std::size_t kSize>
void fill(char (&field)[kSize], const char* text) {
  const std::string_view all(text ? text : "");
  std::memcpy(field, all.data(), std::min(all.size(), kSize - 1));
}

std::string& last_problem() {
  static std::string problem;
  return problem;
}

}  // namespace

#define PACELINE_ATTACH_EXPORT extern "C" __attribute__((visibility("default")))

// Facts of the process; the fields are those of StepHeader.
struct PacelineAttachFacts {
  std::int64_t rank, world, local_rank, restart, rank_known, block_steps, blocks_per_off;
  const char *torch, *backend, *launcher, *job, *device, *command;
};

// Returns why nothing is recorded; null if recording has begun.
PACELINE_ATTACH_EXPORT const char* paceline_attach_begin(const char* path, const PacelineAttachFacts* facts) {
  paceline::attach::StepHeader header{};
  header.rank = facts->rank;
  header.world = facts->world;
  header.local_rank = facts->local_rank;
  header.restart = facts->restart;
  header.rank_known = facts->rank_known != 0;
  header.block_steps = static_cast<std::uint64_t>(facts->block_steps);
  header.blocks_per_off = static_cast<std::uint64_t>(facts->blocks_per_off);
  fill(header.torch, facts->torch);
  fill(header.backend, facts->backend);
  fill(header.launcher, facts->launcher);
  fill(header.job, facts->job);
  fill(header.device, facts->device);
  fill(header.command, facts->command);
  last_problem() =
      paceline::attach::begin_recording(path, header, {header.block_steps, header.blocks_per_off});
  return last_problem().empty() ? nullptr : last_problem().c_str();
}

// After each step of an optimizer, with the address of the Python object. Returns attach::Next.
PACELINE_ATTACH_EXPORT int paceline_attach_step(const void* optimizer) {
  return static_cast<int>(paceline::attach::optimizer_stepped(optimizer));
}

PACELINE_ATTACH_EXPORT std::uint64_t paceline_attach_trace_number() {
  return paceline::attach::trace_number();
}

// `exception`: type of the one that ends the process, or empty.
PACELINE_ATTACH_EXPORT void paceline_attach_end(const char* exception) {
  paceline::attach::end_recording(exception);
}
