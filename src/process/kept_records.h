// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "pass/records.h"

// Records of finished passes, kept as files for --resume. The last line is a seal: whose records they are, of
// which pass, and the digest of all lines before it.
namespace paceline::process {

// The file of a pass's tables beside its records, and its name until the pass is complete.
std::filesystem::path table_of(const std::filesystem::path& records);
std::filesystem::path unfinished_table_of(const std::filesystem::path& records);

// The records of a pass so far, without a seal: there while it runs, and after it where it did not end.
std::filesystem::path unfinished_records_of(const std::filesystem::path& records);
// Reads up to the first line that is cut off; nullopt if there is no such file.
std::optional<pass::PassReport> read_unfinished_records(const std::filesystem::path& records);

// Moves a file that is there already aside, and its tables with it, so that nothing is overwritten: NAME.1,
// NAME.2, …
void set_file_aside(const std::filesystem::path& file);
// Writes the records with their seal; earlier ones are set aside.
void keep_records(const std::filesystem::path& file, const std::string& records, const std::string& case_id);
// Adds one record to a file of this run, and seals it again.
void add_kept_record(const std::filesystem::path& file, const nlohmann::json& record,
                     const std::string& case_id);

// Adds the tables that the report's pass has written into a file. Throws Error(kData) or Error(kIo) naming
// it.
void read_tables(pass::PassReport& report, const std::filesystem::path& table);

// A finished pass read back; where its records do not fit, why. Neither: there is no such file.
struct KeptRecords {
  std::optional<pass::PassReport> report;
  std::string problem;
};
KeptRecords read_kept_records(const std::filesystem::path& file, const std::string& case_id);

}  // namespace paceline::process
