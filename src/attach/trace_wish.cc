// SPDX-License-Identifier: MIT
#include "attach/trace_wish.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
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

// Headers of the job whose processes have not ended in order.
std::vector<OpenHeader> headers_of_job(const std::filesystem::path& folder, int flags) {
  std::vector<OpenHeader> all, headers;
  std::vector<FilePlace> places;
  for (const auto& path : step_files(folder)) {
    OpenHeader one{FileDescriptor(::open(path.c_str(), flags | O_CLOEXEC)), {}};
    if (!one.file || ::pread(one.file.get(), &one.header, sizeof one.header, 0) != sizeof one.header)
      continue;
    places.push_back(place_of(one.header));
    all.push_back(std::move(one));
  }
  for (const auto i : job_files(places).job)
    if (all[i].header.closed_ns == 0) headers.push_back(std::move(all[i]));
  return headers;
}

}  // namespace

std::uint64_t newest_clock(const std::filesystem::path& folder) {
  std::uint64_t newest = 0;
  for (const auto& one : headers_of_job(folder, O_RDONLY)) newest = std::max(newest, one.header.clock);
  return newest;
}

// A rank begins when it sees `after`, so that comes last.
std::int64_t ask_for_trace(const std::filesystem::path& folder, const TraceWish& wish) {
  const auto headers = headers_of_job(folder, O_RDWR);
  const auto put_all = [&](std::uint64_t value, std::size_t at) {
    return std::ranges::all_of(headers, [&](const auto& one) { return put(one, value, at); });
  };
  const bool asked = put_all(wish.steps, offsetof(StepHeader, trace_steps)) &&
                     put_all(wish.number, offsetof(StepHeader, trace_number)) &&
                     put_all(wish.after, offsetof(StepHeader, trace_after));
  return asked ? std::ssize(headers) : 0;
}

}  // namespace paceline::attach
