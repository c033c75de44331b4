// SPDX-License-Identifier: MIT
#include "result/stored/rank_steps.h"

#include <fmt/format.h>

#include <array>

#include "base/csv_cell.h"
#include "result/stored/case_fields.h"

namespace paceline::archive {
template <>
struct EnumNames<result::StepPhase> {
  static constexpr std::array<std::pair<result::StepPhase, std::string_view>, 3> kValue{
      {{result::StepPhase::kWarmup, "warmup"},
       {result::StepPhase::kTimed, "timed"},
       {result::StepPhase::kAfter, "after"}}};
};
}  // namespace paceline::archive

namespace paceline::result {

// Rows hold plain optional numbers, because there are millions of them; files have a reason beside a null.
template <class A, typename T>
void optional_field(A& a, const char* name, std::optional<T>& value, const char* reason) {
  Maybe<T> maybe(value, reason);
  a(name, maybe);
  value = maybe.value();
}
template <class A>
void fields(A& a, BucketTimes& t) {
  a("bytes", t.bytes), a("launch_ns", t.launch_ns);
  optional_field(a, "finish_ns", t.finish_ns, kEndUnknown);
}
template <class A>
void fields(A& a, StepRow& t) {
  a("step", t.step), a("epoch", t.epoch), a("phase", t.phase), a("start_ns", t.start_ns);
  a("step_ns", t.step_ns), times_of_parts(a, t.ns);
  optional_field(a, "loss", t.loss, "not_finite");
  a("correct", t.correct), a("judged", t.judged), a("learning_rate", t.learning_rate);
  a("skipped", t.skipped), a("buckets", t.buckets);
}
template <class A>
void fields(A& a, HeldOutFigures& t) {
  a("epoch", t.epoch), a("eval_samples", t.samples), a("eval_loss", t.loss), a("eval_accuracy", t.accuracy);
  a("eval_seconds", t.seconds);
}
PACELINE_FIELDS(RankSteps, rank, loader_samples_per_s, rows, held_out);

std::string rank_steps_text(const RankSteps& table) {
  return Writer::write(table).dump(-1, ' ', false, Json::error_handler_t::replace);
}

RankSteps rank_steps_from_json(const Json& json) {
  RankSteps table;
  Reader::read(json, "rank_steps", table);
  return table;
}

namespace {

std::string line_of(const Json& line) {
  return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <typename Row>
std::string jsonl(const std::vector<Row>& rows, const Json& first) {
  std::string text;
  for (const auto& row : rows) {
    Json line = first;
    line.update(Writer::write(row));
    text += line_of(line);
  }
  return text;
}

}  // namespace

std::string rank_steps_jsonl(const RankSteps& table, std::int64_t repetition, bool interrupted) {
  Json first{{"repetition", repetition}, {"rank", table.rank.rank}};
  if (interrupted) first["interrupted"] = true;
  return jsonl(table.rows, first);
}

std::string epochs_jsonl(const std::vector<EpochFigures>& epochs, std::int64_t repetition) {
  std::string text;
  for (const auto& epoch : epochs) {
    const Json all = Writer::write(epoch);
    Json line{{"repetition", repetition}};
    for (const auto& [key, value] : all.items())
      if (epoch.eval_samples || !key.starts_with("eval_")) line[key] = value;
    text += line_of(line);
  }
  return text;
}

namespace {

Number in_ms(const Number& ns) {
  return ns ? Number(*ns * 1e-6) : ns;
}

struct EpochColumn {
  std::string_view name;
  std::string (*cell)(const EpochFigures& e);
};
constexpr std::array kEpochColumns{
    EpochColumn{"epoch", [](const EpochFigures& e) { return fmt::format("{}", e.epoch); }},
    EpochColumn{"steps", [](const EpochFigures& e) { return fmt::format("{}", e.steps); }},
    EpochColumn{"samples", [](const EpochFigures& e) { return fmt::format("{}", e.samples); }},
    EpochColumn{"duration_s", [](const EpochFigures& e) { return csv_cell(e.seconds); }},
    EpochColumn{"throughput_per_s", [](const EpochFigures& e) { return csv_cell(e.samples_per_s); }},
    EpochColumn{"step_mean_ms", [](const EpochFigures& e) { return csv_cell(in_ms(e.step_mean_ns)); }},
    EpochColumn{"step_p50_ms", [](const EpochFigures& e) { return csv_cell(in_ms(e.step_p50_ns)); }},
    EpochColumn{"step_p95_ms", [](const EpochFigures& e) { return csv_cell(in_ms(e.step_p95_ns)); }},
    EpochColumn{"loss", [](const EpochFigures& e) { return csv_cell(e.loss); }},
    EpochColumn{"accuracy", [](const EpochFigures& e) { return csv_cell(e.accuracy); }},
    EpochColumn{"learning_rate", [](const EpochFigures& e) { return csv_cell(e.learning_rate); }},
    EpochColumn{"eval_loss", [](const EpochFigures& e) { return csv_cell(e.eval_loss); }},
    EpochColumn{"eval_accuracy", [](const EpochFigures& e) { return csv_cell(e.eval_accuracy); }},
};

}  // namespace

std::string epochs_csv_header() {
  std::string text = "repetition";
  for (const auto& column : kEpochColumns) text += fmt::format(",{}", column.name);
  return text + "\n";
}

std::string epochs_csv(const std::vector<EpochFigures>& epochs, std::int64_t repetition) {
  std::string text;
  for (const auto& epoch : epochs) {
    text += fmt::format("{}", repetition);
    for (const auto& column : kEpochColumns) text += "," + column.cell(epoch);
    text += "\n";
  }
  return text;
}

}  // namespace paceline::result
