// SPDX-License-Identifier: MIT
#include "pass/records.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <span>

#include "base/clock.h"
#include "base/display_text.h"
#include "base/error.h"
#include "result/case_fields.h"

namespace paceline::result {
PACELINE_FIELDS(StepFileMark, bytes, crc32);
}

namespace paceline::pass {
using Json = nlohmann::json;
using result::Reader;
using result::Writer;

PACELINE_FIELDS(SlowestRank, rank, beyond);
PACELINE_FIELDS(LiveSteps, samples_per_s, loss, slowest, shares);
PACELINE_FIELDS(ProgressRecord, phase, n, elapsed_s, p50_ns, ci_low_ns, ci_high_ns, notice, fault_ns, step,
                steps);

PACELINE_FIELDS(PreparedFile, format, size_bytes, duration_ns, quantisation, notes);

namespace {

Json record(const char* type, const char* key, Json value) {
  return {{"type", type}, {key, std::move(value)}};
}

template <typename T>
void read(const Json& from, const char* key, T& into) {
  if (!from.contains(key))
    throw Error(ErrorCode::kData, fmt::format("a '{}' record lacks '{}'", from.value("type", "?"), key));
  Reader::read(from.at(key), key, into);
}

// Columns that not every sample has; null where one has none.
struct OptionalColumn {
  const char* name;
  std::optional<std::int64_t> result::Sample::*field;
};
constexpr std::array<OptionalColumn, 8> kOptionalColumns{{{"device_ns", &result::Sample::device_ns},
                                                          {"queue_ns", &result::Sample::queue_ns},
                                                          {"input_ns", &result::Sample::input_ns},
                                                          {"compute_ns", &result::Sample::compute_ns},
                                                          {"output_ns", &result::Sample::output_ns},
                                                          {"issue_delay_ns", &result::Sample::issue_delay_ns},
                                                          {"batch", &result::Sample::batch},
                                                          {"instance", &result::Sample::instance}}};

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

// Keeps what is there, and so its reason, where the record has no number.
void read_count(const Json& from, const char* key, result::Count& into) {
  if (from.contains(key) && !from.at(key).is_null()) into = from.at(key).get<std::int64_t>();
}

void read_samples(PassReport& report, const Json& from) {
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

// What each rank has measured of one size becomes the times of all.
result::CollectiveTimes joined(const std::vector<result::CollectiveTimes>& of_ranks) {
  if (of_ranks.empty()) throw Error(ErrorCode::kData, "a 'collective_times' record of no rank");
  auto all = of_ranks.front();
  for (std::size_t rank = 1; rank < of_ranks.size(); ++rank) {
    const auto& one = of_ranks[rank];
    if (one.bytes != all.bytes || one.in_place != all.in_place)
      throw Error(ErrorCode::kData, fmt::format("rank {} has timed {} bytes where rank 0 has timed {}", rank,
                                                one.bytes, all.bytes));
    all.wrong += one.wrong;
    all.batch_ns.insert(all.batch_ns.end(), one.batch_ns.begin(), one.batch_ns.end());
    all.sync_ns.insert(all.sync_ns.end(), one.sync_ns.begin(), one.sync_ns.end());
    all.stream_ns.insert(all.stream_ns.end(), one.stream_ns.begin(), one.stream_ns.end());
  }
  return all;
}

DeclaredInput declared_input(const Json& from) {
  DeclaredInput input;
  input.name = from.at("name").get<std::string>();
  input.dtype = parse_dtype(from.at("dtype").get<std::string>());
  if (!from.at("shape").is_null()) input.shape = from.at("shape").get<Shape>();
  input.symbols = from.at("symbols").get<std::vector<std::string>>();
  if (!from.at("example").is_null()) input.example = from.at("example").get<Shape>();
  input.id_limit = from.at("id_limit").get<std::int64_t>();
  for (const auto& [name, dimension] :
       from.at("indexes").get<std::vector<std::pair<std::string, std::size_t>>>())
    input.indexes.push_back({name, dimension});
  return input;
}

using Apply = void (*)(PassReport&, const Json&);
const std::map<std::string, Apply>& appliers() {
  static const std::map<std::string, Apply> kTable{
      {"phase", [](PassReport& r, const Json& j) { read(j, "phase", r.phase); }},
      {"loaded",
       [](PassReport& r, const Json& j) {
         r.versions = j.at("versions").get<decltype(r.versions)>();
         for (const auto& [key, value] :
              j.at("settings").get<std::vector<std::pair<std::string, std::string>>>())
           r.effective_settings[key] = value;
       }},
      {"check",
       [](PassReport& r, const Json& j) {
         read(j, "correctness", r.correctness);
         read(j, "precision", r.precision);
         read_count(j, "tensor_peak_bytes", r.tensor_peak_bytes);
         read_count(j, "reserved_peak_bytes", r.reserved_peak_bytes);
         if (!j.at("flops_per_item").is_null()) r.flops_per_item = j.at("flops_per_item").get<double>();
       }},
      {"correctness", [](PassReport& r, const Json& j) { read(j, "correctness", r.correctness); }},
      {"samples", read_samples},
      {"repetition", [](PassReport& r, const Json& j) { read(j, "summary", r.repetition); }},
      {"describe",
       [](PassReport& r, const Json& j) {
         for (const auto& text : j.at("capabilities"))
           r.capabilities.push_back(plugin::capability_of(text.get<std::string>()));
         r.options = j.at("options").get<std::string>();
         r.first_op_ns = j.at("first_op_ns").is_null()
                             ? result::Number::missing(j.value("first_op_ns_reason", "not_measured"))
                             : result::Number(j.at("first_op_ns").get<double>());
       }},
      {"file_inputs",
       [](PassReport& r, const Json& j) {
         for (const auto& input : j.at("inputs")) r.file_inputs.push_back(declared_input(input));
       }},
      {"inputs", [](PassReport& r, const Json& j) { read(j, "samples_given", r.samples_given); }},
      {"prepared",
       [](PassReport& r, const Json& j) {
         r.prepared.emplace();
         read(j, "prepared", *r.prepared);
       }},
      {"layers",
       [](PassReport& r, const Json& j) {
         read(j, "layers", r.layers);
         read(j, "source", r.layers_source);
         read(j, "inferences", r.layers_inferences);
       }},
      {"step_file", [](PassReport& r, const Json& j) { read(j, "mark", r.step_file.emplace()); }},
      {"rank_steps",
       [](PassReport& r, const Json& j) {
         r.rank_steps.clear();  // of versions before step files
         for (const auto& table : j.at("tables")) r.rank_steps.push_back(result::rank_steps_from_json(table));
       }},
      {"collective", [](PassReport& r, const Json& j) { read(j, "collective", r.collective.emplace()); }},
      {"at", [](PassReport& r, const Json& j) { read(j, "at", r.at); }},
      {"collective_times",
       [](PassReport& r, const Json& j) {
         std::vector<result::CollectiveTimes> of_ranks;
         read(j, "ranks", of_ranks);
         r.collective_times.push_back(joined(of_ranks));
       }},
      {"round_times",
       [](PassReport& r, const Json& j) {
         std::vector<result::RoundTimes> of_round;
         read(j, "subsets", of_round);
         r.round_times.insert(r.round_times.end(), of_round.begin(), of_round.end());
       }},
      {"operators",
       [](PassReport& r, const Json& j) {
         r.profiled_steps.emplace();
         read(j, "steps", *r.profiled_steps);
       }},
      {"interrupted",
       [](PassReport& r, const Json& j) {
         r.interrupted = true;
         r.asked_to_end = j.value("asked", false);
       }},
      {"trained",
       [](PassReport& r, const Json& j) {
         read(j, "why", r.trained);
         r.repetition.index = j.value("repetition", std::int64_t{0});
       }},
      {"restarts",
       [](PassReport& r, const Json& j) {
         if (!r.repetition.training)
           throw Error(ErrorCode::kData, "a 'restarts' record without a repetition");
         read(j, "restarts", r.repetition.training->restarts);
       }},
      {"failed",
       [](PassReport& r, const Json& j) {
         read(j, "code", r.error_code);
         read(j, "message", r.error);
       }},
      {"done",
       [](PassReport& r, const Json&) {
         r.done = true;
         r.phase = "exit";
       }},
  };
  return kTable;
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
  return record_type == "collective_times" || record_type == "round_times";
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
    const auto it = appliers().find(type);
    if (it == appliers().end())
      throw Error(ErrorCode::kData, fmt::format("an unknown record type '{}'", type));
    it->second(report, record);
  } catch (const Json::exception& e) {
    throw Error(ErrorCode::kData, fmt::format("a damaged '{}' record ({})", type, plain_reason(e)));
  }
  return std::nullopt;
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
Json check_record(const result::Correctness& correctness, const result::PrecisionReadBack& precision,
                  const result::Count& tensor_peak_bytes, const result::Count& reserved_peak_bytes,
                  const result::Number& flops_per_item) {
  return {{"type", "check"},
          {"correctness", Writer::write(correctness)},
          {"precision", Writer::write(precision)},
          {"tensor_peak_bytes", tensor_peak_bytes ? Json(*tensor_peak_bytes) : Json(nullptr)},
          {"reserved_peak_bytes", reserved_peak_bytes ? Json(*reserved_peak_bytes) : Json(nullptr)},
          {"flops_per_item", flops_per_item ? Json(*flops_per_item) : Json(nullptr)}};
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
Json repetition_record(const result::Repetition& repetition) {
  return record("repetition", "summary", Writer::write(repetition));
}
Json describe_record(const std::vector<plugin::Capability>& capabilities, const std::string& options,
                     const result::Number& first_op_ns) {
  Json texts = Json::array();
  for (const auto& one : capabilities) texts.push_back(plugin::to_text(one));
  return {{"type", "describe"},
          {"capabilities", texts},
          {"options", options},
          {"first_op_ns", first_op_ns ? Json(*first_op_ns) : Json(nullptr)},
          {"first_op_ns_reason", first_op_ns.reason()}};
}
Json file_inputs_record(const std::vector<DeclaredInput>& inputs) {
  Json list = Json::array();
  for (const auto& input : inputs) {
    std::vector<std::pair<std::string, std::size_t>> indexes;
    for (const auto& [name, dimension] : input.indexes) indexes.emplace_back(name, dimension);
    list.push_back({{"name", input.name},
                    {"dtype", input.dtype ? dtype_name(*input.dtype) : ""},
                    {"shape", input.shape ? Json(*input.shape) : Json(nullptr)},
                    {"symbols", input.symbols},
                    {"example", input.example ? Json(*input.example) : Json(nullptr)},
                    {"id_limit", input.id_limit},
                    {"indexes", indexes}});
  }
  return {{"type", "file_inputs"}, {"inputs", list}};
}
Json inputs_record(std::int64_t samples_given) {
  return {{"type", "inputs"}, {"samples_given", samples_given}};
}

Json prepared_record(const PreparedFile& prepared) {
  return record("prepared", "prepared", Writer::write(prepared));
}
Json layers_record(const std::vector<result::LayerRow>& layers, const std::string& source,
                   std::int64_t inferences) {
  return {
      {"type", "layers"}, {"layers", Writer::write(layers)}, {"source", source}, {"inferences", inferences}};
}
Json step_file_record(const result::StepFileMark& mark) {
  return record("step_file", "mark", Writer::write(mark));
}
Json collective_record(const result::CollectiveResult& known) {
  return record("collective", "collective", Writer::write(known));
}
Json at_record(const std::string& words) {
  return record("at", "at", words);
}
std::string collective_times_text(const result::CollectiveTimes& of_one_rank) {
  return Writer::write(of_one_rank).dump();
}
Json collective_times_record(const std::vector<std::string>& of_ranks) {
  Json all = Json::array();
  for (const auto& text : of_ranks) all.push_back(Json::parse(text));
  return record("collective_times", "ranks", std::move(all));
}
Json round_times_record(const std::vector<result::RoundTimes>& of_round) {
  return record("round_times", "subsets", Writer::write(of_round));
}
Json operators_record(const result::ProfiledSteps& steps) {
  return record("operators", "steps", Writer::write(steps));
}
Json trained_record(const std::string& why) {
  return record("trained", "why", why);
}
Json interrupted_record(bool asked) {
  return {{"type", "interrupted"}, {"asked", asked}};
}
Json restarts_record(const std::vector<result::RestartFigures>& restarts) {
  return record("restarts", "restarts", Writer::write(restarts));
}
Json failed_record(const std::string& code, const std::string& message) {
  return {{"type", "failed"}, {"code", code}, {"message", message}};
}
Json done_record() {
  return {{"type", "done"}};
}

}  // namespace paceline::pass
