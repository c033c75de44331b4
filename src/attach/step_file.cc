// SPDX-License-Identifier: MIT
#include "attach/step_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>

#include "attach/running.h"
#include "attach/step_header.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/foreign_text.h"
#include "base/handle.h"
#include "base/reading.h"
#include "base/text.h"

namespace paceline::attach {
namespace {

constexpr std::int64_t kMostRanks = 1'000'000;
constexpr std::int64_t kLatestTime_ns = 4'000'000'000'000'000'000;  // the year 2096, counted from 1970

[[noreturn]] void refuse_file(const std::string& name, const std::string& why) {
  throw Error(ErrorCode::kData, fmt::format("{}: {}", shown_path(name), why));
}

// Bytes of an open file by position.
class OpenFile {
 public:
  OpenFile(const std::filesystem::path& path, std::string name)
      : name_(std::move(name)), file_(open_regular_file(path)) {
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0) fail();
    bytes_ = static_cast<std::uint64_t>(status.st_size);
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  // Reads this number of bytes, or throws: the file was cut while it was read.
  void read(void* into, std::size_t count, std::uint64_t at) const {
    auto* to = static_cast<char*>(into);
    while (count > 0) {
      const ssize_t got = ::pread(file_.get(), to, count, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail();
      if (got == 0) refuse_file(name_, "it was cut short while it was read; read it again");
      to += got, at += static_cast<std::uint64_t>(got), count -= static_cast<std::size_t>(got);
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorCode::kIo, fmt::format("cannot read {}: {}", shown_path(name_), std::strerror(errno)));
  }

  std::string name_;
  FileDescriptor file_;
  std::uint64_t bytes_ = 0;
};

// Text of a field without bytes that a terminal or JSON does not take; a letter that was cut is left out.
std::string clean(std::string text) {
  constexpr std::size_t kLetter = 4;  // bytes of the longest letter
  for (std::size_t i = 1; i < kLetter && !text.empty() && !is_utf8(text); ++i) text.pop_back();
  return is_utf8(text) ? on_one_line(text) : std::string("(no UTF-8)");
}

StepHeader header_of(const OpenFile& file, const std::string& name) {
  StepHeader header{};
  if (file.bytes() < kRecordsAt) refuse_file(name, "it is no step file, or was cut off in its header");
  file.read(&header, sizeof header, 0);
  if (const auto problem = header_problem(header, file.bytes()); !problem.empty()) refuse_file(name, problem);
  const bool ranks =
      header.world >= 1 && header.world <= kMostRanks && header.rank >= 0 && header.rank < header.world;
  if (!ranks)
    refuse_file(name, fmt::format("its header says rank {} of {}: it is damaged", header.rank, header.world));
  const auto is_time = [](std::int64_t time) { return time >= 0 && time <= kLatestTime_ns; };
  if (!is_time(header.realtime_ns) || !is_time(header.monotonic_ns) || header.names > kNameSlots)
    refuse_file(name, "the clocks or counts in its header cannot be: it is damaged");
  return header;
}

void read_names(const OpenFile& file, StepFile& into) {
  std::vector<StepName> names(into.header.names);
  file.read(names.data(), names.size() * sizeof(StepName), kHeaderBytes);
  for (const auto& one : names) into.names.push_back(clean(field_text(one.text)));
}

bool is_sound(const StepRecord& record, const StepHeader& header) {
  const auto kind = static_cast<StepKind>(record.kind);
  const bool device = kind == StepKind::kDevice;  // its clock is another one
  const auto begin = device ? static_cast<std::int64_t>(record.value) : record.begin_ns;
  const std::int64_t earliest = std::max<std::int64_t>(0, header.monotonic_ns - kLongestJob_ns);
  return kind <= StepKind::kCounter && record.begin_ns >= 0 && record.end_ns >= record.begin_ns &&
         record.end_ns <= kLatestTime_ns && record.end_ns - record.begin_ns <= kLongestJob_ns &&
         begin >= earliest && begin <= header.monotonic_ns + kLongestJob_ns &&
         (record.name == kNoName || record.name < header.names);
}

// Reads the newest records.
void read_records(const OpenFile& file, std::uint64_t most, StepFile& into) {
  const std::uint64_t used = std::min(into.header.used, into.header.capacity), count = std::min(used, most);
  into.full = into.header.used > into.header.capacity;
  const auto& limit = limit_of(Foreign::kStepRecords);
  if (count * kRecordBytes > limit.bytes)
    refuse_file(into.file, fmt::format("it has {} records, and at most {} are read here", used,
                                       limit.bytes / kRecordBytes));
  into.records.resize(count);
  file.read(into.records.data(), count * kRecordBytes, kRecordsAt + (used - count) * kRecordBytes);
}

void sort_records(StepFile& into) {
  std::erase_if(into.records, [&](const StepRecord& record) {
    const bool empty = record.kind == static_cast<std::uint8_t>(StepKind::kUnwritten);
    const bool sound = !empty && is_sound(record, into.header);
    into.unfinished += empty ? 1 : 0, into.damaged += !empty && !sound ? 1 : 0;
    return !sound;
  });
  std::ranges::stable_sort(into.records, [](const StepRecord& a, const StepRecord& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
}

StepFile read_newest(const std::filesystem::path& path, const std::string& name, std::uint64_t most) {
  const OpenFile file(path, name);
  StepFile whole;
  whole.file = name;
  whole.header = header_of(file, name);
  whole.host = clean(field_text(whole.header.host));
  whole.torch = clean(field_text(whole.header.torch));
  whole.backend = clean(field_text(whole.header.backend));
  whole.device = clean(field_text(whole.header.device));
  whole.command = clean(field_text(whole.header.command));
  whole.running = is_running(whole.header);
  read_records(file, most, whole);
  // A job that runs may have named what it has recorded since the header was read.
  whole.header.names = header_of(file, name).names;
  read_names(file, whole);
  sort_records(whole);
  return whole;
}

}  // namespace

const std::string& StepFile::name_of(const StepRecord& record) const {
  static const std::string none;
  return record.name < names.size() ? names[record.name] : none;
}

StepFile read_step_file(const std::filesystem::path& path, const std::string& name) {
  return read_newest(path, name, std::numeric_limits<std::uint64_t>::max());
}

StepFile newest_steps(const std::filesystem::path& path, std::size_t steps) {
  constexpr std::uint64_t kFirst = 1024, kMost = 65'536, kMore = 4;
  const auto is_step = [](const StepRecord& one) {
    return static_cast<StepKind>(one.kind) == StepKind::kStep;
  };
  const auto wanted = static_cast<std::ptrdiff_t>(steps);
  for (std::uint64_t count = kFirst;; count *= kMore) {
    auto file = read_newest(path, path.filename().string(), count);
    const auto ends = std::ranges::count_if(file.records, is_step);
    const bool whole = file.header.used <= count;
    if (!whole && count < kMost && ends <= wanted) continue;
    auto skipped =
        ends > wanted ? ends - wanted : std::ptrdiff_t{whole ? 0 : 1};  // ends before the first step
    auto first = file.records.begin();
    for (; skipped > 0 && first != file.records.end(); ++first)
      if (is_step(*first) && --skipped == 0) break;
    file.records.erase(file.records.begin(), first);
    return file;
  }
}

}  // namespace paceline::attach
