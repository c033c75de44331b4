// SPDX-License-Identifier: MIT
// A worker's stream of bytes: cut anywhere, with and without copies on disk.
#include "process/record_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/handle.h"
#include "base/scratch_folder.h"
#include "process/kept_records.h"

namespace paceline::process {
namespace {

std::string stream() {
  pass::ProgressRecord progress;
  progress.phase = "measure", progress.n = 7;
  std::string text;
  for (const auto& record :
       {pass::phase_record("measure"), pass::progress_record(progress), pass::done_record()})
    text += record.dump() + "\n";
  return text;
}

struct Heard {
  std::vector<std::string> phases;
  std::vector<std::int64_t> counts;
  OnProgress listener() {
    return [this](const pass::ProgressRecord& p) { phases.push_back(p.phase), counts.push_back(p.n); };
  }
};

TEST(RecordReader, LinesMayArriveInAnyPieces) {
  const auto text = stream();
  for (std::size_t size = 1; size <= text.size(); size += 3) {
    Heard heard;
    RecordReader reader({}, heard.listener());
    for (std::size_t at = 0; at < text.size(); at += size) reader.add(text.substr(at, size));
    EXPECT_TRUE(reader.report().done) << size;
    EXPECT_EQ(heard.counts, (std::vector<std::int64_t>{0, 7})) << size;  // a phase is shown, too
  }
}

TEST(RecordReader, ALineWithoutItsEndIsNotTaken) {
  RecordReader reader({}, {});
  const auto text = stream();
  reader.add(text.substr(0, text.size() - 1));
  EXPECT_FALSE(reader.report().done);
}

TEST(RecordReader, ALineThatIsNoRecordIsQuoted) {
  RecordReader reader({}, {});
  try {
    reader.add("Hello from a library\n");
    ADD_FAILURE() << "it was taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kData);
    EXPECT_STREQ(e.what(), "a line that is no record: 'Hello from a library'");
  }
  EXPECT_THROW(reader.add("{\"type\": \"unheard of\"}\n"), Error);
}

TEST(RecordReader, ProgressIsShownAndNotKept) {
  const ScratchFolder scratch = ScratchFolder::below_temp("paceline-reader");
  const auto file = scratch.path() / "timed-0.jsonl";
  RecordReader reader(file, {}, "a");
  reader.add(stream());
  EXPECT_FALSE(std::filesystem::exists(file));  // until it is complete
  reader.commit();
  EXPECT_EQ(read_kept_records(file, "a").problem, "");
  EXPECT_EQ(read_file(file).find("progress"), std::string::npos);
}

TEST(RecordReader, TrainingWithNothingLeftTakesThePlaceOfNoMeasurement) {
  const ScratchFolder scratch = ScratchFolder::below_temp("paceline-reader");
  const auto file = scratch.path() / "timed-0.jsonl";
  keep_records(file, stream(), "a");
  const auto before = read_file(file);
  RecordReader reader(file, {}, "a");
  reader.add(pass::trained_record("all epochs are done").dump() + "\n" + pass::done_record().dump() + "\n");
  reader.commit();
  EXPECT_EQ(read_file(file), before);
}

TEST(RecordReader, APipeIsReadUntilItIsEmptyAndUntilItIsClosed) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  const FileDescriptor from(ends[0]);
  FileDescriptor to(ends[1]);
  RecordReader reader({}, {});
  const auto text = stream();
  ASSERT_EQ(::write(to.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_TRUE(reader.drain(from.get()));
  EXPECT_TRUE(reader.report().done);
  to = FileDescriptor();
  EXPECT_FALSE(reader.drain(from.get()));
}

}  // namespace
}  // namespace paceline::process
