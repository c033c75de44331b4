// SPDX-License-Identifier: MIT
#include "history/database.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>

#include "base/display_text.h"

namespace paceline::history {
namespace fs = std::filesystem;
namespace {

constexpr int kBusyMs = 10'000;

[[noreturn]] void fail_sqlite(sqlite3* database, int code) {
  const std::string why = database ? ::sqlite3_errmsg(database) : ::sqlite3_errstr(code);
  const int kind = code & 0xff;  // without the extension
  if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB) throw Damaged(ErrorCode::kData, why);
  throw Error(ErrorCode::kIo, why);
}

void check_sqlite(sqlite3* database, int code) {
  if (code != SQLITE_OK) fail_sqlite(database, code);
}

// Numbers of file systems that several machines share (statfs(2)): NFS, SMB, CIFS, FUSE, Lustre, GPFS, Ceph.
constexpr std::array<std::uint32_t, 7> kShared{0x6969,     0x517b,     0xff534d42, 0x65735546,
                                               0x0bd00bd0, 0x47504653, 0x00c36400};

// A write-ahead log needs memory that all writers share, so all of them on one machine.
bool is_on_one_machine(const fs::path& file) {
  struct statfs info {};
  if (::statfs(file.parent_path().c_str(), &info) != 0) return false;
  return std::ranges::find(kShared, static_cast<std::uint32_t>(info.f_type)) == kShared.end();
}

}  // namespace

void Statement::End::operator()(sqlite3_stmt* statement) const {
  ::sqlite3_finalize(statement);
}

Statement::Statement(sqlite3* database, std::string_view text) : database_(database) {
  sqlite3_stmt* prepared = nullptr;
  check_sqlite(database, ::sqlite3_prepare_v2(database, text.data(), static_cast<int>(text.size()), &prepared,
                                              nullptr));
  statement_.reset(prepared);
}

Statement& Statement::bind(std::string_view text) {
  check_sqlite(database_, ::sqlite3_bind_text(statement_.get(), ++next_, text.data(),
                                              static_cast<int>(text.size()), SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  check_sqlite(database_, ::sqlite3_bind_int64(statement_.get(), ++next_, number));
  return *this;
}

Statement& Statement::bind(std::optional<double> number) {
  check_sqlite(database_, number ? ::sqlite3_bind_double(statement_.get(), ++next_, *number)
                                 : ::sqlite3_bind_null(statement_.get(), ++next_));
  return *this;
}

bool Statement::step() {
  const int code = ::sqlite3_step(statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail_sqlite(database_, code);
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (step()) continue;
  check_sqlite(database_, ::sqlite3_reset(statement_.get()));
  next_ = 0;
}

std::string Statement::text(int column) const {
  const auto* const found = ::sqlite3_column_text(statement_.get(), column);
  return found ? reinterpret_cast<const char*>(found) : "";
}

std::int64_t Statement::integer(int column) const {
  return ::sqlite3_column_int64(statement_.get(), column);
}

std::optional<double> Statement::number(int column) const {
  if (::sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
  return ::sqlite3_column_double(statement_.get(), column);
}

void Database::Close::operator()(sqlite3* database) const {
  ::sqlite3_close(database);
}

Database::Database(const fs::path& file) {
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW;
  sqlite3* opened = nullptr;
  const int code = ::sqlite3_open_v2(file.empty() ? ":memory:" : file.c_str(), &opened,
                                     file.empty() ? kFlags & ~SQLITE_OPEN_NOFOLLOW : kFlags, nullptr);
  database_.reset(opened);
  check_sqlite(opened, code);
  ::sqlite3_busy_timeout(opened, kBusyMs);
  ::sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  ::sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  ::sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  ::sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  if (!file.empty() && is_on_one_machine(file)) run("PRAGMA journal_mode = WAL");
  // A killed process loses nothing; after a power failure the index is made again.
  run("PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON");
}

void Database::run(std::string_view statements) const {
  check_sqlite(database_.get(),
               ::sqlite3_exec(database_.get(), std::string(statements).c_str(), nullptr, nullptr, nullptr));
}

Statement Database::ask(std::string_view statement) const {
  return {database_.get(), statement};
}

std::int64_t Database::newest_row() const {
  return ::sqlite3_last_insert_rowid(database_.get());
}

Transaction::Transaction(const Database& database) : database_(database) {
  database_.run("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const Error&) {  // an error has ended it already
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace paceline::history
