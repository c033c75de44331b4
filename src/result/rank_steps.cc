// SPDX-License-Identifier: MIT
#include "result/rank_steps.h"

#include "result/case_fields.h"

namespace paceline::result {

template <>
struct EnumNames<StepPhase> {
  static constexpr std::array<std::pair<StepPhase, std::string_view>, 3> kValue{
      {{StepPhase::kWarmup, "warmup"}, {StepPhase::kTimed, "timed"}, {StepPhase::kAfter, "after"}}};
};
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
  optional_field(a, "finish_ns", t.finish_ns, kEndUnheard);
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

}  // namespace paceline::result
