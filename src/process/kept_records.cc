// SPDX-License-Identifier: MIT
#include "process/kept_records.h"

#include <fmt/format.h>

#include <string_view>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/reading.h"
#include "base/sha256.h"
#include "base/text.h"

namespace paceline::process {
namespace fs = std::filesystem;
using Json = nlohmann::json;
namespace {

struct Parts {
  std::string_view records;  // with the end of their last line
  Json seal;                 // null where there is none
};

Parts parts_of(std::string_view text) {
  if (!text.ends_with('\n')) return {text, nullptr};
  const auto end = text.rfind('\n', text.size() - 2);
  const auto begin = end == std::string_view::npos ? 0 : end + 1;
  auto seal = json_or_discarded(text.substr(begin));
  if (!seal.is_object() || seal.value("type", Json()) != "seal") return {text, nullptr};
  return {text.substr(0, begin), std::move(seal)};
}

std::string sealed(const std::string& records, const fs::path& file, const std::string& case_id) {
  const Json seal = {{"type", "seal"},
                     {"case_id", case_id},
                     {"pass", file.stem().string()},
                     {"sha256", sha256_hex(records)}};
  return records + seal.dump() + "\n";
}

// Empty: it is the file that was written under this name.
std::string problem_of(const Parts& parts, const fs::path& file, const std::string& case_id) {
  if (parts.seal.is_null()) return "it is cut short";
  if (parts.seal.value("sha256", Json()) != sha256_hex(parts.records))
    return "it was changed after it was written";
  if (parts.seal.value("case_id", Json()) != case_id) return "it belongs to another case";
  if (parts.seal.value("pass", Json()) != file.stem().string()) return "it belongs to another pass";
  return {};
}

pass::PassReport report_of(std::string_view records, const fs::path& table) {
  pass::PassReport report;
  for (const auto& line : split(std::string(records), '\n'))
    if (!line.empty()) pass::apply_record(report, json_or_discarded(line));
  if (!report.done) throw Error(ErrorCode::kData, "the pass did not end");
  read_tables(report, table);
  return report;
}

}  // namespace

fs::path table_of(const fs::path& records) {
  return fs::path(records).replace_extension(".steps.bin");
}

fs::path unfinished_table_of(const fs::path& records) {
  return table_of(records).string() + ".part";
}

fs::path unfinished_records_of(const fs::path& records) {
  return records.parent_path() / ("unfinished-" + records.filename().string());
}

std::optional<pass::PassReport> read_unfinished_records(const fs::path& records) {
  const auto file = unfinished_records_of(records);
  if (!fs::exists(file)) return std::nullopt;
  pass::PassReport report;
  try {
    for (const auto& line : split(read_stored(file, Foreign::kRecords), '\n'))
      pass::apply_record(report, json_or_discarded(line));
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): see the header
  }
  return report;
}

void read_tables(pass::PassReport& report, const fs::path& table) {
  const auto mark = report.get<pass::TrainingReport>().step_file;
  if (!mark) return;
  auto steps = result::read_step_file(table);
  if (steps.mark != *mark)
    throw Error(ErrorCode::kData,
                fmt::format("the step file '{}' is another one than its pass has written", table.string()));
  report.fill<pass::TrainingReport>().rank_steps = std::move(steps.ranks);
}

void set_file_aside(const fs::path& file) {
  if (!fs::exists(file)) return;
  const auto aside = [](const fs::path& from, int number) {
    return fs::path(fmt::format("{}.{}", from.string(), number));
  };
  int number = 1;
  while (fs::exists(aside(file, number))) ++number;
  fs::rename(file, aside(file, number));
  std::error_code error;
  fs::rename(table_of(file), aside(table_of(file), number), error);  // most passes have none
}

void keep_records(const fs::path& file, const std::string& records, const std::string& case_id) {
  set_file_aside(file);
  replace_file(file, sealed(records, file, case_id));
}

void add_kept_record(const fs::path& file, const Json& record, const std::string& case_id) {
  const auto text = read_stored(file, Foreign::kRecords);
  replace_file(file, sealed(std::string(parts_of(text).records) + record.dump() + "\n", file, case_id));
}

KeptRecords read_kept_records(const fs::path& file, const std::string& case_id) {
  if (!fs::exists(file)) return {};
  try {
    const auto text = read_stored(file, Foreign::kRecords);
    const auto parts = parts_of(text);
    if (auto problem = problem_of(parts, file, case_id); !problem.empty()) return {{}, problem};
    return {report_of(parts.records, table_of(file)), {}};
  } catch (const Error& e) {
    return {{}, e.what()};
  }
}

}  // namespace paceline::process
