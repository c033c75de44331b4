// SPDX-License-Identifier: MIT
// An SQLite database that its owner opens, asks and closes.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace paceline::history {

// The file is no database, or a damaged one. Another error of SQLite is Error(kIo).
class Damaged : public Error {
 public:
  using Error::Error;
};

// A prepared statement. Columns and parameters count from 0, in the order of the text.
class Statement {
 public:
  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t number);
  Statement& bind(std::optional<double> number);  // null where there is none
  bool step();                                    // whether there is a row
  void run();                                     // until its end; the statement may be bound again

  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::optional<double> number(int column) const;

 private:
  friend class Database;
  struct End {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3* database, std::string_view text);
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, End> statement_;
  int next_ = 0;
};

class Database {
 public:
  // Opens or creates the file; without a path it is in memory. Waits up to ten seconds for other writers.
  explicit Database(const std::filesystem::path& file);
  void run(std::string_view statements) const;
  [[nodiscard]] Statement ask(std::string_view statement) const;
  [[nodiscard]] std::int64_t newest_row() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

// Takes the place of the only writer, and leaves nothing behind unless it is committed.
class Transaction {
 public:
  explicit Transaction(const Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  const Database& database_;
  bool open_ = true;
};

}  // namespace paceline::history
