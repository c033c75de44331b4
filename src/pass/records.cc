// SPDX-License-Identifier: MIT
#include "pass/records.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "base/bounded_json.h"
#include "base/clock.h"
#include "base/display_text.h"
#include "base/error.h"
#include "pass/record_type.h"
#include "result/stored/case_fields.h"

namespace paceline::pass {

using archive::Writer;

PACELINE_FIELDS(SlowestRank, rank, beyond, cause);
PACELINE_FIELDS(LiveSteps, samples_per_s, loss, slowest, shares);
PACELINE_FIELDS(ProgressRecord, phase, n, elapsed_s, p50_ns, ci_low_ns, ci_high_ns, blocks, notice, fault_ns,
                step, steps);

namespace {

// Columns that not every sample has; null where one has none.
struct OptionalColumn {
  const char* name;
  std::optional<std::int64_t> result::Sample::*field;
};
constexpr std::array<OptionalColumn, 9> kOptionalColumns{{{"device_ns", &result::Sample::device_ns},
                                                          {"queue_ns", &result::Sample::queue_ns},
                                                          {"input_ns", &result::Sample::input_ns},
                                                          {"compute_ns", &result::Sample::compute_ns},
                                                          {"output_ns", &result::Sample::output_ns},
                                                          {"issue_delay_ns", &result::Sample::issue_delay_ns},
                                                          {"batch", &result::Sample::batch},
                                                          {"instance", &result::Sample::instance},
                                                          {"enqueue_ns", &result::Sample::enqueue_ns}}};

void read_column(const Json& from, const OptionalColumn& column, std::span<result::Sample> samples) {
  if (!from.contains(column.name)) return;
  const Json& values = from.at(column.name);
  if (!values.is_array() || values.size() != samples.size())
    throw Error(ErrorCode::kData,
                fmt::format("column '{}' of a 'samples' record has another length", column.name));
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (!values[i].is_null()) samples[i].*column.field = values[i].get<std::int64_t>();
}

void add_column(Json& record, const OptionalColumn& column, const std::vector<result::Sample>& samples) {
  Json values = Json::array();
  bool any = false;
  for (const auto& s : samples) {
    const auto& value = s.*column.field;
    values.push_back(value ? Json(*value) : Json(nullptr));
    any |= value.has_value();
  }
  if (any) record[column.name] = std::move(values);
}

void take_samples(PassReport& report, const Json& from) {
  std::vector<std::int64_t> starts, durations, flags;
  read(from, "start_ns", starts);
  read(from, "host_ns", durations);
  read(from, "flags", flags);
  if (starts.size() != durations.size() || starts.size() != flags.size())
    throw Error(ErrorCode::kData, "a 'samples' record has columns of different lengths");
  const auto first = report.samples.size();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    result::Sample s;
    s.repetition = from.value("repetition", 0);
    s.rank = from.value("rank", 0);
    s.index = static_cast<std::int64_t>(report.samples.size());
    s.start_ns = starts[i];
    s.host_ns = durations[i];
    s.flags = static_cast<std::uint32_t>(flags[i]);
    report.samples.push_back(s);
  }
  for (const auto& column : kOptionalColumns)
    read_column(from, column, std::span(report.samples).subspan(first));
}

// Each series has a number, or words, for every time.
void take_sampled(PassReport& report, const Json& from) {
  std::vector<result::SampledWindow> windows;
  read(from, "windows", windows);
  for (const auto& window : windows)
    for (const auto& one : window.series)
      if (one.times_s.size() != std::max(one.numbers.size(), one.words.size()) ||
          (!one.numbers.empty() && !one.words.empty()))
        throw Error(ErrorCode::kData,
                    fmt::format("'{}' of '{}' in a 'sampled' record has more or fewer readings than times",
                                one.metric, one.device));
  report.sampled = std::move(windows);
}

void take_loaded(PassReport& report, const Json& json) {
  report.versions = json.at("versions").get<decltype(report.versions)>();
  for (const auto& [key, value] : json.at("settings").get<std::vector<std::pair<std::string, std::string>>>())
    report.effective_settings[key] = value;
}

void take_failed(PassReport& report, const Json& json) {
  read(json, "code", report.error_code);
  read(json, "message", report.error);
}

void take_done(PassReport& report, const Json&) {
  report.done = true;
  report.phase = "exit";
}

constexpr std::array kCommonTypes{
    RecordType{"phase", [](PassReport& r, const Json& j) { read(j, "phase", r.phase); }},
    RecordType{"at", [](PassReport& r, const Json& j) { read(j, "at", r.at); }},
    RecordType{"loaded", take_loaded},
    RecordType{"correctness", [](PassReport& r, const Json& j) { read(j, "correctness", r.correctness); }},
    RecordType{"samples", take_samples},
    RecordType{"sampled", take_sampled},
    RecordType{"repetition", [](PassReport& r, const Json& j) { read(j, "summary", r.repetition); }},
    RecordType{"failed", take_failed},
    RecordType{"done", take_done},
};

// Null for an unknown one.
const RecordType* find_type(std::string_view name) {
  for (const auto& type : kCommonTypes)
    if (type.name == name) return &type;
  for (const auto records : kRecordsOfKinds)
    for (const auto& type : records())
      if (type.name == name) return &type;
  return nullptr;
}

}  // namespace

void PipeSink::emit(const Json& record) {
  std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(ErrorCode::kIo, "the coordinator no longer reads this worker's records");
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
}

bool is_part(std::string_view record_type) {
  const auto* type = find_type(record_type);
  return type && type->part;
}

std::optional<ProgressRecord> apply_record(PassReport& report, const Json& record) {
  if (!record.is_object() || !record.contains("type") || !record["type"].is_string())
    throw Error(ErrorCode::kData, "a line that is no record");
  const std::string type = record["type"];
  try {
    if (type == "progress") {
      ProgressRecord progress;
      read(record, "progress", progress);
      return progress;
    }
    const auto* known = find_type(type);
    if (!known) throw Error(ErrorCode::kData, fmt::format("an unknown record type '{}'", type));
    known->take(report, record);
  } catch (const Json::exception& e) {
    throw Error(ErrorCode::kData, fmt::format("a damaged '{}' record ({})", type, plain_reason(e)));
  }
  return std::nullopt;
}

Json at_record(const std::string& words) {
  return record("at", "at", words);
}
Json phase_record(const std::string& phase) {
  return record("phase", "phase", phase);
}
Json progress_record(const ProgressRecord& progress) {
  return record("progress", "progress", Writer::write(progress));
}
Json notice_record(const std::string& words) {
  ProgressRecord progress;
  progress.notice = words;
  return progress_record(progress);
}
Json fault_record(const std::string& words) {
  ProgressRecord progress;
  progress.notice = words;
  progress.fault_ns = SteadyClock{}.now_ns();
  return progress_record(progress);
}
Json loaded_record(const std::vector<std::pair<std::string, std::string>>& versions,
                   const std::vector<std::pair<std::string, std::string>>& settings) {
  return {{"type", "loaded"}, {"versions", versions}, {"settings", settings}};
}
Json correctness_record(const result::Correctness& correctness) {
  return record("correctness", "correctness", Writer::write(correctness));
}
Json samples_record(const std::vector<result::Sample>& samples) {
  Json starts = Json::array(), durations = Json::array(), flags = Json::array();
  for (const auto& s : samples) {
    starts.push_back(s.start_ns);
    durations.push_back(s.host_ns);
    flags.push_back(s.flags);
  }
  Json made = {{"type", "samples"}, {"start_ns", starts}, {"host_ns", durations}, {"flags", flags}};
  for (const auto& column : kOptionalColumns) add_column(made, column, samples);
  return made;
}
std::string sampled_text(const std::vector<result::SampledWindow>& of_one_rank) {
  return Writer::write(of_one_rank).dump(-1, ' ', false, Json::error_handler_t::replace);
}
Json sampled_record(const std::vector<std::string>& of_ranks) {
  Json windows = Json::array();
  for (const auto& text : of_ranks)
    for (auto& window : parsed_json(text)) windows.push_back(std::move(window));
  return record("sampled", "windows", std::move(windows));
}
Json repetition_record(const result::Repetition& repetition) {
  return record("repetition", "summary", Writer::write(repetition));
}
Json failed_record(const std::string& code, const std::string& message) {
  return {{"type", "failed"}, {"code", code}, {"message", message}};
}
Json done_record() {
  return {{"type", "done"}};
}

}  // namespace paceline::pass
