// SPDX-License-Identifier: MIT
#include "result/stored/step_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <span>

#include "base/archive.h"
#include "base/bounded_json.h"
#include "base/error.h"
#include "base/file.h"
#include "base/reading.h"

namespace paceline::result {
using archive::Json;
namespace {

static_assert(std::endian::native == std::endian::little, "step files hold little-endian numbers");

constexpr std::string_view kStepMagic = "PACESTEP";
constexpr std::uint32_t kStepVersion = 1;
constexpr std::size_t kPrefixBytes = 16;        // magic, version, size of the header
constexpr std::uint32_t kEndRank = 0xFFFFFFFF;  // in the place of a rank: the end block
constexpr std::int64_t kNoNumber = std::numeric_limits<std::int64_t>::min();

// The columns of a row in their order, each of 8 bytes: these, times of the parts of the step, these, and
// those of the buckets.
constexpr std::array<std::string_view, 4> kBeforeParts{"step", "epoch", "start_ns", "step_ns"};
constexpr std::array<std::array<std::string_view, 2>, 7> kAfterParts{{{"correct", "i8"},
                                                                      {"judged", "i8"},
                                                                      {"phase", "i8"},
                                                                      {"skipped", "i8"},
                                                                      {"loss", "f8"},
                                                                      {"learning_rate", "f8"},
                                                                      {"buckets", "i8"}}};
constexpr std::array<std::string_view, 3> kBucketColumns{"bytes", "launch_ns", "finish_ns"};

constexpr std::size_t words_of(std::size_t buckets) {
  return kBeforeParts.size() + kStepParts.size() + kAfterParts.size() + kBucketColumns.size() * buckets;
}

void put_row(const StepRow& row, std::span<std::int64_t> words) {
  auto at = words.begin();
  for (const auto word : {row.step, row.epoch, row.start_ns, row.step_ns}) *at++ = word;
  for (const auto part : kStepParts) *at++ = row.ns[part];
  for (const auto word :
       {row.correct, row.judged, static_cast<std::int64_t>(row.phase), std::int64_t{row.skipped},
        std::bit_cast<std::int64_t>(row.loss.value_or(std::numeric_limits<double>::quiet_NaN())),
        std::bit_cast<std::int64_t>(row.learning_rate), static_cast<std::int64_t>(row.buckets.size())})
    *at++ = word;
  for (const auto& bucket : row.buckets) {
    *at++ = bucket.bytes;
    *at++ = bucket.launch_ns;
    *at++ = bucket.finish_ns.value_or(kNoNumber);
  }
  std::fill(at, words.end(), kNoNumber);
}

// False: no row that put_row() has written.
bool take_row(std::span<const std::int64_t> words, std::size_t buckets, StepRow& row) {
  const auto after = words.subspan(kBeforeParts.size() + kStepParts.size());
  const auto phase = after[2], used = after[6];
  if (phase < 0 || phase > static_cast<std::int64_t>(StepPhase::kAfter) || used < 0 ||
      static_cast<std::size_t>(used) > buckets)
    return false;
  row.step = words[0], row.epoch = words[1], row.start_ns = words[2], row.step_ns = words[3];
  for (std::size_t i = 0; i < kStepParts.size(); ++i) row.ns[kStepParts[i]] = words[kBeforeParts.size() + i];
  row.correct = after[0], row.judged = after[1];
  row.phase = static_cast<StepPhase>(phase);
  row.skipped = after[3] != 0;
  if (const auto loss = std::bit_cast<double>(after[4]); std::isfinite(loss)) row.loss = loss;
  row.learning_rate = std::bit_cast<double>(after[5]);
  row.buckets.resize(static_cast<std::size_t>(used));
  auto at = after.begin() + kAfterParts.size();
  for (auto& bucket : row.buckets) {
    bucket.bytes = *at++;
    bucket.launch_ns = *at++;
    if (const auto finish = *at++; finish != kNoNumber) bucket.finish_ns = finish;
  }
  return true;
}

Json columns_json(std::size_t buckets) {
  Json columns = Json::array();
  for (const auto name : kBeforeParts) columns.push_back({name, "i8"});
  for (const auto part : kStepParts) columns.push_back({traits_of(part).ns_name, "i8"});
  for (const auto& column : kAfterParts) columns.push_back(column);
  for (std::size_t b = 0; b < buckets; ++b)
    for (const auto name : kBucketColumns) columns.push_back({fmt::format("bucket{}_{}", b, name), "i8"});
  return columns;
}

std::string header_text(const StepFileHead& head) {
  Json ranks = Json::array();
  for (const auto& entry : head.entries) ranks.push_back(parsed_json(entry));
  auto text = Json{{"repetition", head.repetition},
                   {"interrupted", head.interrupted},
                   {"columns", columns_json(head.buckets)},
                   {"ranks", std::move(ranks)}}
                  .dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

void append_u32(std::string& text, std::uint32_t number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::int64_t add_to_crc(std::int64_t crc, std::string_view bytes) {
  return static_cast<std::int64_t>(
      ::crc32_z(static_cast<uLong>(crc), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Reads a file from its beginning to its end.
class StepFileReader {
 public:
  explicit StepFileReader(const std::filesystem::path& path) : path_(path) {
    check_regular_file(path);
    stream_.open(path, std::ios::binary);
    if (!stream_)
      throw Error(ErrorCode::kIo, fmt::format("cannot read '{}': {}", path.string(), std::strerror(errno)));
    std::error_code error;
    left_ = std::filesystem::file_size(path, error);
  }

  StepFile read() {
    read_header();
    while (read_block()) continue;
    for (const auto& [rank, table] : by_rank_)
      if (const auto steps = announced_.at(rank); static_cast<std::int64_t>(table->rows.size()) != steps)
        refuse(fmt::format("has {} of the {} steps of rank {}", table->rows.size(), steps, rank));
    return std::move(file_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::kData, fmt::format("the step file '{}' {}", path_.string(), what));
  }

  void take(char* to, std::size_t bytes) {
    if (bytes > left_ || !stream_.read(to, static_cast<std::streamsize>(bytes))) refuse("is cut short");
    left_ -= bytes;
    file_.mark.bytes += static_cast<std::int64_t>(bytes);
  }
  // Returns text that is valid until the next call.
  std::string_view take_checked(std::size_t bytes) {
    if (bytes > left_) refuse("is cut short");
    if (buffer_.size() < bytes) buffer_.resize(bytes);
    take(buffer_.data(), bytes);
    const std::string_view taken(buffer_.data(), bytes);
    file_.mark.crc32 = add_to_crc(file_.mark.crc32, taken);
    return taken;
  }

  void read_header() {
    std::uint32_t version = 0, bytes = 0;
    const auto prefix = take_checked(kPrefixBytes);
    if (!prefix.starts_with(kStepMagic)) refuse("is no step file");
    std::memcpy(&version, prefix.data() + kStepMagic.size(), sizeof version);
    std::memcpy(&bytes, prefix.data() + kStepMagic.size() + sizeof version, sizeof bytes);
    if (version != kStepVersion)
      refuse(fmt::format("is of version {}, and this program reads version {}", version, kStepVersion));
    try {
      take_header(parsed_json(take_checked(bytes)));
    } catch (const Json::exception&) {
      refuse("has a damaged header");
    }
  }

  void take_header(const Json& header) {
    file_.repetition = header.at("repetition").get<std::int64_t>();
    file_.interrupted = header.at("interrupted").get<bool>();
    const auto& columns = header.at("columns");
    constexpr auto kFixed = words_of(0);
    if (columns.size() >= kFixed) buckets_ = (columns.size() - kFixed) / kBucketColumns.size();
    if (columns != columns_json(buckets_)) refuse("has other columns than version 1");
    row_.resize(words_of(buckets_));
    for (const auto& entry : header.at("ranks")) take_entry(entry);
    for (auto& table : file_.ranks) by_rank_.emplace(table.rank.rank, &table);
    if (by_rank_.size() != file_.ranks.size()) refuse("names a rank twice");
  }

  void take_entry(const Json& entry) {
    const auto rows = entry.at("steps").get<std::int64_t>();
    auto& table = file_.ranks.emplace_back(rank_steps_from_json(entry.at("about")));
    announced_[table.rank.rank] = rows;
    const auto room = static_cast<std::int64_t>(left_ / (row_.size() * sizeof row_[0]));
    table.rows.reserve(static_cast<std::size_t>(std::clamp<std::int64_t>(rows, 0, room)));
  }

  // False: it was the end block.
  bool read_block() {
    std::array<std::uint32_t, 2> head{};
    take(reinterpret_cast<char*>(head.data()), sizeof head);
    if (head[0] == kEndRank) return read_end(head[1]), false;
    file_.mark.crc32 =
        add_to_crc(file_.mark.crc32, {reinterpret_cast<const char*>(head.data()), sizeof head});
    const auto found = by_rank_.find(head[0]);
    if (found == by_rank_.end()) refuse(fmt::format("has steps of rank {}, which it does not name", head[0]));
    read_rows(*found->second, head[1]);
    return true;
  }

  void read_rows(RankSteps& table, std::size_t count) {
    const std::size_t row_bytes = row_.size() * sizeof row_[0];
    if (static_cast<std::int64_t>(table.rows.size() + count) > announced_.at(table.rank.rank))
      refuse(fmt::format("has more steps of rank {} than it announces", table.rank.rank));
    const auto bytes = take_checked(count * row_bytes);
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(row_.data(), bytes.data() + i * row_bytes, row_bytes);
      if (!take_row(row_, buckets_, table.rows.emplace_back()))
        refuse(fmt::format("is damaged in the steps of rank {}", table.rank.rank));
    }
  }

  void read_end(std::uint32_t crc) {
    if (crc != static_cast<std::uint32_t>(file_.mark.crc32)) refuse("was changed after it was written");
    if (left_ > 0) refuse("goes on after its end");
  }

  std::filesystem::path path_;
  std::ifstream stream_;
  std::size_t left_ = 0;  // bytes that have not been read
  std::string buffer_;
  std::size_t buckets_ = 0;
  std::vector<std::int64_t> row_;
  StepFile file_;
  std::map<std::int64_t, RankSteps*> by_rank_;
  std::map<std::int64_t, std::int64_t> announced_;  // steps, by rank
};

}  // namespace

std::string step_file_entry(const RankSteps& table) {
  RankSteps about{table.rank, table.loader_samples_per_s, {}, table.held_out};
  return Json{{"about", parsed_json(rank_steps_text(about))}, {"steps", table.rows.size()}}.dump();
}

std::size_t most_buckets(const RankSteps& table) {
  std::size_t most = 0;
  for (const auto& row : table.rows) most = std::max(most, row.buckets.size());
  return most;
}

std::size_t step_row_bytes(std::size_t buckets) {
  return words_of(buckets) * sizeof(std::int64_t);
}

std::string step_block(const RankSteps& table, std::size_t first, std::size_t count, std::size_t buckets) {
  std::string block;
  if (first >= table.rows.size()) return block;
  count = std::min(count, table.rows.size() - first);
  block.reserve(2 * sizeof(std::uint32_t) + count * step_row_bytes(buckets));
  append_u32(block, static_cast<std::uint32_t>(table.rank.rank));
  append_u32(block, static_cast<std::uint32_t>(count));
  std::vector<std::int64_t> words(words_of(buckets));
  for (std::size_t i = first; i < first + count; ++i) {
    put_row(table.rows[i], words);
    block.append(reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]);
  }
  return block;
}

StepFileWriter::StepFileWriter(std::filesystem::path path, const StepFileHead& head)
    : path_(std::move(path)), file_(open_own_file(path_, O_WRONLY | O_TRUNC)) {
  const auto header = header_text(head);
  std::string prefix(kStepMagic);
  append_u32(prefix, kStepVersion);
  append_u32(prefix, static_cast<std::uint32_t>(header.size()));
  add(prefix);
  add(header);
}

void StepFileWriter::write(std::string_view bytes) {
  mark_.bytes += static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", path_.string(), std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void StepFileWriter::add(std::string_view block) {
  mark_.crc32 = add_to_crc(mark_.crc32, block);
  write(block);
}

StepFileMark StepFileWriter::finish() {
  std::string end;
  append_u32(end, kEndRank);
  append_u32(end, static_cast<std::uint32_t>(mark_.crc32));
  write(end);
  if (::fsync(file_.get()) != 0)
    throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", path_.string(), std::strerror(errno)));
  file_.reset();
  return mark_;
}

StepFile read_step_file(const std::filesystem::path& path) {
  return StepFileReader(path).read();
}

}  // namespace paceline::result
