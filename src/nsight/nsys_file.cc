// SPDX-License-Identifier: MIT
#include "nsight/nsys_file.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "base/display_text.h"
#include "base/error.h"
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
    sqlite3* opened = nullptr;
    const int code =
        ::sqlite3_open_v2(unchanging(file).c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    database_.reset(opened);
    if (code != SQLITE_OK) fail();
  }

  [[nodiscard]] bool has(const std::string& table) const {
    bool found = false;
    visit("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '" + table + "'",
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
    while ((code = ::sqlite3_step(prepared)) == SQLITE_ROW) each(Found(prepared));
    if (code != SQLITE_DONE) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorCode::kData, fmt::format("{}: not a readable export of Nsight Systems: {}",
                                              shown_path(path_.string()), ::sqlite3_errmsg(database_.get())));
  }

  std::filesystem::path path_;
  std::unique_ptr<sqlite3, CloseDatabase> database_;
};

constexpr const char *kKernels = "CUPTI_ACTIVITY_KIND_KERNEL", *kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY",
                     *kCalls = "CUPTI_ACTIVITY_KIND_RUNTIME", *kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                     *kFills = "CUPTI_ACTIVITY_KIND_MEMSET", *kRanges = "NVTX_EVENTS";

// The process of an id of nsys: of globalPid, and of globalTid, whose last 24 bits are the thread.
constexpr const char* kProcess = "{} / 0x1000000 % 0x1000000";

std::string process_of(const Database& file, const std::string& table, const std::string& column,
                       const char* prefix) {
  return file.has_column(table, column) ? fmt::format(fmt::runtime(kProcess), prefix + column) : "0";
}

// Columns start, end, deviceId, streamId, the process of an activity, and the end of the call that asked for
// it. Numbers of calls repeat in each process.
std::string activities(const Database& file, const std::string& table, const std::string& more) {
  const auto process = process_of(file, table, "globalPid", "a.");
  const bool known = file.has_column(table, "globalPid") && file.has_column(kCalls, "globalTid");
  const auto call = fmt::format("(SELECT max(c.end) FROM calls c WHERE c.correlationId = a.correlationId{})",
                                known ? " AND c.process = " + process : "");
  return fmt::format("SELECT a.start, a.end, a.deviceId, a.streamId, {}, {}{} FROM {} a ORDER BY a.start",
                     process, file.has(kCalls) ? call : "NULL", more, table);
}

void read_activity(const Found& row, Activity& into) {
  into.start = row.number(0), into.end = row.number(1), into.device = row.number(2),
  into.stream = row.number(3), into.process = row.number(4);
  into.asked = row.maybe(5);
}

// Ends before starts, and numbers at the ends of their range.
bool is_possible(const Activity& one) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
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

// Marks have no end, and a name is in the table itself or, registered, among its texts.
void read_ranges(const Database& file, NsysFile& into) {
  if (!file.has(kRanges) || !file.has_column(kRanges, "end")) return;
  const std::string name = file.has_column(kRanges, "textId")
                               ? "coalesce(r.text, (SELECT value FROM StringIds WHERE id = r.textId))"
                               : "r.text";
  file.visit(fmt::format("SELECT {}, r.start, r.end, {} FROM {} r WHERE r.end IS NOT NULL ORDER BY r.start",
                         name, process_of(file, kRanges, "globalTid", "r."), kRanges),
             [&](const Found& row) {
               NamedRange range{row.text(0), row.number(1), row.number(2), row.number(3)};
               if (!range.name.empty() && range.start <= range.end) into.ranges.push_back(std::move(range));
             });
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
      fmt::format("SELECT (SELECT value FROM StringIds WHERE id = c.nameId), c.start, c.end, {} FROM {} c "
                  "ORDER BY c.start",
                  process_of(file, kCalls, "globalTid", "c."), kCalls),
      [&](const Found& row) {
        NamedRange call{without_version(row.text(0)), row.number(1), row.number(2), row.number(3)};
        if (!call.name.empty() && call.start <= call.end) into.calls.push_back(std::move(call));
      });
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
  NsysFile read;
  if (file.has(kCalls))
    file.visit(
        fmt::format("CREATE TEMP TABLE calls AS SELECT correlationId, max(end) AS end, {} AS process FROM {} "
                    "GROUP BY 1, 3",
                    process_of(file, kCalls, "globalTid", ""), kCalls),
        [](const Found&) {});
  if (file.has(kCalls))
    file.visit("CREATE INDEX temp.by_correlation ON calls(correlationId, process)", [](const Found&) {});
  if (file.has(kKernels))
    file.visit(activities(file, kKernels, ", (SELECT value FROM StringIds WHERE id = a.demangledName)"),
               [&](const Found& row) {
                 read_activity(row, read.kernels.emplace_back());
                 read.kernels.back().name = row.text(6);
               });
  if (file.has(kCopies))
    file.visit(activities(file, kCopies, ", a.copyKind, a.bytes, a.srcKind, a.dstKind"),
               [&](const Found& row) {
                 auto& copy = read.copies.emplace_back();
                 read_activity(row, copy);
                 copy.kind = copy_kind(row.number(6)), copy.bytes = row.number(7);
                 constexpr std::int64_t kPageable = 0;  // of CUpti_ActivityMemoryKind as nsys stores it
                 copy.pageable = (copy.kind == CopyKind::kHostToDevice && row.number(8) == kPageable) ||
                                 (copy.kind == CopyKind::kDeviceToHost && row.number(9) == kPageable);
               });
  if (file.has(kFills))
    file.visit(activities(file, kFills, ""),
               [&](const Found& row) { read_activity(row, read.fills.emplace_back()); });
  if (file.has(kGraphs))
    file.visit(activities(file, kGraphs, ""),
               [&](const Found& row) { read_activity(row, read.graphs.emplace_back()); });
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
