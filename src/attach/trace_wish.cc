// SPDX-License-Identifier: MIT
#include "attach/trace_wish.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "attach/step_header.h"
#include "attach/step_record.h"
#include "base/handle.h"

namespace paceline::attach {
namespace {

struct OpenHeader {
  FileDescriptor file;
  StepHeader header{};
};

bool put(const OpenHeader& one, std::uint64_t value, std::size_t at) {
  return ::pwrite(one.file.get(), &value, sizeof value, static_cast<off_t>(at)) == sizeof value;
}

// Headers of the newest start of each rank whose process has not ended in order. Ranks that an elastic job
// lost are of another number of ranks.
std::vector<OpenHeader> newest_headers(const std::filesystem::path& folder, int flags) {
  std::map<std::int64_t, OpenHeader> by_rank;
  const StepHeader* newest = nullptr;
  for (const auto& path : step_files(folder)) {
    OpenHeader one{FileDescriptor(::open(path.c_str(), flags | O_CLOEXEC)), {}};
    if (!one.file || ::pread(one.file.get(), &one.header, sizeof one.header, 0) != sizeof one.header)
      continue;
    auto& known = by_rank[one.header.rank];
    if (!known.file || known.header.realtime_ns < one.header.realtime_ns) known = std::move(one);
  }
  std::erase_if(by_rank, [](const auto& one) { return one.second.header.closed_ns != 0; });
  for (const auto& [rank, one] : by_rank)
    if (!newest || newest->realtime_ns < one.header.realtime_ns) newest = &one.header;
  std::vector<OpenHeader> headers;
  const auto world = newest ? newest->world : 0;
  for (auto& [rank, one] : by_rank)
    if (one.header.world == world) headers.push_back(std::move(one));
  return headers;
}

}  // namespace

std::uint64_t newest_clock(const std::filesystem::path& folder) {
  std::uint64_t newest = 0;
  for (const auto& one : newest_headers(folder, O_RDONLY)) newest = std::max(newest, one.header.clock);
  return newest;
}

// A rank begins when it sees `after`, so that comes last.
std::int64_t ask_for_trace(const std::filesystem::path& folder, const TraceWish& wish) {
  const auto headers = newest_headers(folder, O_RDWR);
  const auto put_all = [&](std::uint64_t value, std::size_t at) {
    return std::ranges::all_of(headers, [&](const auto& one) { return put(one, value, at); });
  };
  const bool asked = put_all(wish.steps, offsetof(StepHeader, trace_steps)) &&
                     put_all(wish.number, offsetof(StepHeader, trace_number)) &&
                     put_all(wish.after, offsetof(StepHeader, trace_after));
  return asked ? std::ssize(headers) : 0;
}

}  // namespace paceline::attach
