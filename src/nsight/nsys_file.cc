// SPDX-License-Identifier: MIT
#include "nsight/nsys_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <unordered_map>

#include "base/clock.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/foreign_text.h"
#include "base/units.h"

namespace paceline::nsight {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { ::sqlite3_close(database); }
};
struct EndStatement {
  void operator()(sqlite3_stmt* statement) const { ::sqlite3_finalize(statement); }
};

// A row of a query while it is visited.
class Found {
 public:
  explicit Found(sqlite3_stmt* statement) : statement_(statement) {}
  [[nodiscard]] std::int64_t number(int column) const { return ::sqlite3_column_int64(statement_, column); }
  [[nodiscard]] std::optional<std::int64_t> maybe(int column) const {
    return ::sqlite3_column_type(statement_, column) == SQLITE_NULL ? std::nullopt
                                                                    : std::optional(number(column));
  }
  [[nodiscard]] std::string text(int column) const {
    const auto* const found = ::sqlite3_column_text(statement_, column);
    return found ? reinterpret_cast<const char*>(found) : "";
  }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (int i = 0; i < ::sqlite3_column_count(statement_); ++i)
      if (::sqlite3_column_type(statement_, i) == SQLITE_TEXT)
        sum += static_cast<std::uint64_t>(::sqlite3_column_bytes(statement_, i));
    return sum;
  }

 private:
  sqlite3_stmt* statement_;
};

// As an address that has SQLite write nothing beside the file.
std::string unchanging(const std::filesystem::path& file) {
  std::string address = "file:";
  for (const char c : file.string())
    address +=
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_' || c == '-'
            ? std::string(1, c)
            : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return address + "?immutable=1";
}

class Database {
 public:
  explicit Database(const std::filesystem::path& file) : path_(file) {
    if (!std::filesystem::is_regular_file(file))
      throw Error(ErrorCode::kIo, fmt::format("cannot read {}: no such file", shown_path(file.string())));
    if (const auto why = too_large(file, Foreign::kNsightDatabase)) refuse(*why);
    sqlite3* opened = nullptr;
    const int code =
        ::sqlite3_open_v2(unchanging(file).c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    database_.reset(opened);
    if (code != SQLITE_OK) fail();
    limit();
  }

  [[nodiscard]] bool has(const std::string& table) const {
    bool found = false;
    visit("SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = '" + table +
              "'",  // a virtual table has no page
          [&](const Found&) { found = true; });
    return found;
  }

  [[nodiscard]] bool has_column(const std::string& table, const std::string& column) const {
    bool found = false;
    visit(fmt::format("SELECT name FROM pragma_table_info('{}')", table),
          [&](const Found& row) { found = found || row.text(0) == column; });
    return found;
  }

  template <class Visit>
  void visit(const std::string& query, Visit each) const {
    sqlite3_stmt* prepared = nullptr;
    if (::sqlite3_prepare_v2(database_.get(), query.c_str(), -1, &prepared, nullptr) != SQLITE_OK) fail();
    const std::unique_ptr<sqlite3_stmt, EndStatement> statement(prepared);
    int code = SQLITE_ROW;
    while ((code = ::sqlite3_step(prepared)) == SQLITE_ROW) {
      const Found row(prepared);
      ++rows_, text_bytes_ += row.bytes();
      if (rows_ > kNsightRows || text_bytes_ > kNsightTexts)
        refuse("more rows or longer names than are read");
      each(row);
    }
    if (code == SQLITE_INTERRUPT) refuse(fmt::format("its queries take more than {} s", kNsightSeconds));
    if (code != SQLITE_DONE) fail();
  }

  // A generated column is a program that runs with each row that is read.
  void check_columns(const std::string& table) const {
    visit(fmt::format("SELECT name FROM pragma_table_xinfo('{}') WHERE hidden <> 0", table),
          [&](const Found& row) {
            refuse(fmt::format("column {} of {} is computed, and nsys writes none of that kind",
                               shown_value(row.text(0)), table));
          });
  }

 private:
  // Bounds what a hostile file can have the library do.
  void limit() {
    constexpr int kLongestValue = 1 << 20, kInstructions = 10'000;
    auto* const database = database_.get();
    ::sqlite3_hard_heap_limit64(kNsightHeap);
    ::sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLongestValue);
    ::sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    ::sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    ::sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    const auto is_late = [](void* self) {
      return static_cast<int>(static_cast<double>(SteadyClock{}.now_ns() - *static_cast<const std::int64_t*>(
                                                                               self)) > kNsightSeconds * 1e9);
    };
    ::sqlite3_progress_handler(database, kInstructions, is_late, &begin_ns_);
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorCode::kData, fmt::format("{}: {}", shown_path(path_.string()), why));
  }
  [[noreturn]] void fail() const {
    throw Error(ErrorCode::kData, fmt::format("{}: not a readable export of Nsight Systems: {}",
                                              shown_path(path_.string()), ::sqlite3_errmsg(database_.get())));
  }

  std::filesystem::path path_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
  std::int64_t begin_ns_ = SteadyClock{}.now_ns();
  mutable std::int64_t rows_ = 0;
  mutable std::uint64_t text_bytes_ = 0;
};

constexpr const char *kKernels = "CUPTI_ACTIVITY_KIND_KERNEL", *kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY",
                     *kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME", *kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                     *kFills = "CUPTI_ACTIVITY_KIND_MEMSET", *kRanges = "NVTX_EVENTS";
constexpr std::array kActivities{kKernels, kCopies, kGraphs, kFills};
constexpr std::array kTables{"StringIds", kKernels, kCopies, kCalls, kGraphs, kFills, kRanges};

// The process of an id of nsys: of globalPid, and of globalTid, whose last 24 bits are the thread.
constexpr const char* kProcess = "{} / 0x1000000 % 0x1000000";

std::string process_of(const Database& file, const std::string& table, const std::string& column,
                       const char* prefix) {
  return file.has_column(table, column) ? fmt::format(fmt::runtime(kProcess), prefix + column) : "0";
}

// When the calls of the host ended, by process and correlation. Numbers of calls repeat in each process.
class CallEnds {
 public:
  explicit CallEnds(const Database& file)
      : per_process_(file.has(kCalls) && file.has_column(kCalls, "globalTid")),
        by_number_alone_(!per_process_ || std::ranges::any_of(kActivities, [&](const char* table) {
          return file.has(table) && !file.has_column(table, "globalPid");
        })) {
    if (!file.has(kCalls)) return;
    file.visit(fmt::format("SELECT correlationId, end, {} FROM {}", process_of(file, kCalls, "globalTid", ""),
                           kCalls),
               [&](const Found& row) { add(row); });
  }

  // `knows`: the table of the activity names processes.
  [[nodiscard]] std::optional<std::int64_t> of(std::int64_t correlation, std::int64_t process,
                                               bool knows) const {
    const auto& ends = per_process_ && knows ? by_process_ : by_number_;
    const auto found = ends.find({per_process_ && knows ? process : 0, correlation});
    return found == ends.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;
      const auto mixed =
          (static_cast<std::uint64_t>(key.first) ^ static_cast<std::uint64_t>(key.second) * kMix);
      return static_cast<std::size_t>(mixed * kMix ^ mixed >> 29U);
    }
  };
  using Ends = std::unordered_map<Key, std::int64_t, Hash>;

  void add(const Found& row) {
    if (!row.maybe(0) || !row.maybe(1)) return;
    const auto keep_latest = [&](Ends& ends, std::int64_t process) {
      const auto [at, is_new] = ends.try_emplace({process, row.number(0)}, row.number(1));
      if (!is_new) at->second = std::max(at->second, row.number(1));
    };
    if (by_number_alone_) keep_latest(by_number_, 0);
    if (per_process_) keep_latest(by_process_, row.number(2));
  }

  bool per_process_, by_number_alone_;
  Ends by_number_, by_process_;
};

// Reads the activities of one kind, by start. `more`: columns behind the seven that each kind has.
template <class One, class Take>
void read_activities(const Database& file, const CallEnds& calls, const char* table, const char* more,
                     std::vector<One>& into, Take take) {
  if (!file.has(table)) return;
  const bool knows = file.has_column(table, "globalPid");
  const auto call = file.has(kCalls) ? "a.correlationId" : "NULL";
  file.visit(fmt::format("SELECT a.start, a.end, a.deviceId, a.streamId, {}, {}{} FROM {} a",
                         process_of(file, table, "globalPid", "a."), call, more, table),
             [&](const Found& row) {
               auto& one = into.emplace_back();
               one.start = row.number(0), one.end = row.number(1), one.device = row.number(2),
               one.stream = row.number(3), one.process = row.number(4);
               if (const auto number = row.maybe(5)) one.asked = calls.of(*number, one.process, knows);
               take(row, one);
             });
  std::ranges::stable_sort(into, {}, &Activity::start);
}

// Ends before starts, and numbers at the ends of their range.
bool is_possible(const Activity& one) {
  constexpr std::int64_t kMost = std::int64_t{1} << 61;  // differences fit as well
  return one.start >= -kMost && one.end <= kMost && one.start <= one.end;
}
bool is_possible(const Copy& copy) {
  return is_possible(static_cast<const Activity&>(copy)) && copy.bytes >= 0;
}
template <class Activities>
std::size_t drop_impossible(Activities& all) {
  return std::erase_if(all, [](const auto& one) { return !is_possible(one); });
}

CopyKind copy_kind(std::int64_t code) {  // of CUpti_ActivityMemcpyKind
  constexpr std::int64_t kIn = 1, kOut = 2, kWithin = 8;
  return code == kIn       ? CopyKind::kHostToDevice
         : code == kOut    ? CopyKind::kDeviceToHost
         : code == kWithin ? CopyKind::kDeviceToDevice
                           : CopyKind::kOther;
}

void take_copy(const Found& row, Copy& copy) {
  constexpr std::int64_t kPageable = 0;  // of CUpti_ActivityMemoryKind as nsys stores it
  copy.kind = copy_kind(row.number(6)), copy.bytes = row.number(7);
  copy.pageable = (copy.kind == CopyKind::kHostToDevice && row.number(8) == kPageable) ||
                  (copy.kind == CopyKind::kDeviceToHost && row.number(9) == kPageable);
}

// Marks have no end, and a name is in the table itself or, registered, among its texts.
void read_ranges(const Database& file, NsysFile& into) {
  if (!file.has(kRanges) || !file.has_column(kRanges, "end")) return;
  const std::string name = file.has_column(kRanges, "textId")
                               ? "coalesce(r.text, (SELECT value FROM StringIds WHERE id = r.textId))"
                               : "r.text";
  file.visit(fmt::format("SELECT {}, r.start, r.end, {} FROM {} r WHERE r.end IS NOT NULL", name,
                         process_of(file, kRanges, "globalTid", "r."), kRanges),
             [&](const Found& row) {
               NamedRange range{row.text(0), row.number(1), row.number(2), row.number(3)};
               if (!range.name.empty() && range.start <= range.end) into.ranges.push_back(std::move(range));
             });
  std::ranges::stable_sort(into.ranges, {}, &NamedRange::start);
}

// "cudaLaunchKernel" of "cudaLaunchKernel_v7000".
std::string without_version(std::string name) {
  const auto at = name.rfind("_v");
  const bool versioned = at != std::string::npos && at + 2 < name.size() &&
                         name.find_first_not_of("0123456789", at + 2) == std::string::npos;
  return versioned ? name.substr(0, at) : name;
}

void read_calls(const Database& file, NsysFile& into) {
  if (!file.has(kCalls) || !file.has_column(kCalls, "nameId")) return;
  file.visit(
      fmt::format("SELECT (SELECT value FROM StringIds WHERE id = c.nameId), c.start, c.end, {} FROM {} c",
                  process_of(file, kCalls, "globalTid", "c."), kCalls),
      [&](const Found& row) {
        NamedRange call{without_version(row.text(0)), row.number(1), row.number(2), row.number(3)};
        if (!call.name.empty() && call.start <= call.end) into.calls.push_back(std::move(call));
      });
  std::ranges::stable_sort(into.calls, {}, &NamedRange::start);
}

}  // namespace

NsysFile read_nsys_file(const std::filesystem::path& path) {
  const Database file(path);
  if (!file.has("StringIds"))
    throw Error(
        ErrorCode::kData,
        fmt::format("{}: no export of Nsight Systems: it has no table StringIds; write one with: nsys "
                    "export --type sqlite REPORT.nsys-rep",
                    shown_path(path.string())));
  for (const auto* table : kTables)
    if (file.has(table)) file.check_columns(table);
  NsysFile read;
  const CallEnds calls(file);
  read_activities(file, calls, kKernels, ", (SELECT value FROM StringIds WHERE id = a.demangledName)",
                  read.kernels, [](const Found& row, Kernel& kernel) { kernel.name = row.text(6); });
  read_activities(file, calls, kCopies, ", a.copyKind, a.bytes, a.srcKind, a.dstKind", read.copies,
                  take_copy);
  const auto nothing_more = [](const Found&, Activity&) {};
  read_activities(file, calls, kFills, "", read.fills, nothing_more);
  read_activities(file, calls, kGraphs, "", read.graphs, nothing_more);
  read_ranges(file, read);
  read_calls(file, read);
  const auto dropped = drop_impossible(read.kernels) + drop_impossible(read.copies) +
                       drop_impossible(read.graphs) + drop_impossible(read.fills);
  if (dropped > 0)
    read.remarks.push_back(fmt::format("{} with a time or a size that cannot be: left out",
                                       plural(static_cast<std::int64_t>(dropped), "row")));
  if (read.kernels.empty() && read.copies.empty() && read.graphs.empty())
    throw Error(ErrorCode::kData,
                fmt::format("{}: it has no activity of a GPU; was the program traced with -t cuda?",
                            shown_path(path.string())));
  if (!read.graphs.empty())
    read.remarks.emplace_back(
        "CUDA graphs were traced as a whole; nsys profile --cuda-graph-trace=node shows their kernels");
  return read;
}

}  // namespace paceline::nsight
