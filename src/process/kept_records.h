// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "pass/records.h"

// Records of finished passes, kept as files for --resume. The last line is a seal: whose records they are, of
// which pass, and the digest of all lines before it.
namespace paceline::process {

// Moves a file that is there already aside, so that nothing is overwritten: NAME.1, NAME.2, …
void set_file_aside(const std::filesystem::path& file);
// Writes the records with their seal; an earlier file is set aside.
void keep_records(const std::filesystem::path& file, const std::string& records, const std::string& case_id);
// Adds one record to a file of this run's own, and seals it anew.
void add_kept_record(const std::filesystem::path& file, const nlohmann::json& record,
                     const std::string& case_id);

// A finished pass read back; where its records do not fit, why. Neither: there is no such file.
struct KeptRecords {
  std::optional<pass::PassReport> report;
  std::string problem;
};
KeptRecords read_kept_records(const std::filesystem::path& file, const std::string& case_id);

}  // namespace paceline::process
