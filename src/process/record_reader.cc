// SPDX-License-Identifier: MIT
#include "process/record_reader.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/file.h"
#include "process/kept_records.h"

namespace paceline::process {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxLine = std::size_t{1} << 30;

}  // namespace

RecordReader::RecordReader(fs::path file, OnProgress on_progress, std::string case_id)
    : file_(std::move(file)), case_id_(std::move(case_id)), on_progress_(std::move(on_progress)) {}

void RecordReader::add(std::string_view bytes) {
  pending_ += bytes;
  if (pending_.size() > kMaxLine) throw Error(ErrorCode::kData, "a line without end");
  std::size_t begin = 0;
  for (std::size_t end; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1)
    take(std::string_view(pending_).substr(begin, end - begin));
  pending_.erase(0, begin);
}

bool RecordReader::drain(int fd) {
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n > 0) {
      add({buffer, static_cast<std::size_t>(n)});
    } else if (n == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
}

void RecordReader::commit() const {
  // Training that had nothing left to time takes the place of no measurement.
  const auto& training = report_.get<pass::TrainingReport>();
  const bool measured = training.trained.empty() || !fs::exists(file_);
  if (file_.empty() || !measured) return;
  keep_records(file_, kept_, case_id_);
  std::error_code error;
  if (on_disk_ > 0) fs::remove(unfinished_records_of(file_), error);
  if (training.step_file) fs::rename(unfinished_table_of(file_), table_of(file_));
}

void RecordReader::take(std::string_view line) {
  const auto json = json_or_discarded(line);
  if (json.is_discarded())
    throw Error(ErrorCode::kData, fmt::format("a line that is no record: '{}'", line.substr(0, 80)));
  if (const auto progress = pass::apply_record(report_, json)) {
    if (on_progress_) on_progress_(*progress);
    return;
  }
  if (!file_.empty()) kept_.append(line) += '\n';
  const auto type = json.value("type", "");
  if (pass::is_part(type)) keep_part();
  if (type == "phase" && on_progress_) on_progress_({report_.phase, 0, 0, {}, {}, {}});
}

void RecordReader::append_unfinished() {
  const auto unfinished = unfinished_records_of(file_);
  if (on_disk_ == 0) set_file_aside(unfinished);
  append_file(unfinished, std::string_view(kept_).substr(on_disk_));
  on_disk_ = kept_.size();
}

// A pass that does not end leaves what it measured until then.
void RecordReader::keep_part() {
  try {
    if (!file_.empty()) append_unfinished();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): commit() reports what the system refuses
  }
  pass::ProgressRecord progress;
  progress.part = &report_;
  if (on_progress_) on_progress_(progress);
}

}  // namespace paceline::process
