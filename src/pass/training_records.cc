// SPDX-License-Identifier: MIT
// Records of ranks that train, and of one that is profiled.
#include "pass/record_type.h"
#include "pass/records.h"
#include "result/stored/case_fields.h"

namespace paceline::result {
PACELINE_FIELDS(StepFileMark, bytes, crc32);
}

namespace paceline::pass {
namespace {

using archive::Writer;

void take_interrupted(PassReport& report, const Json& json) {
  auto& training = report.fill<TrainingReport>();
  training.interrupted = true;
  training.asked_to_end = json.value("asked", false);
}

void take_trained(PassReport& report, const Json& json) {
  read(json, "why", report.fill<TrainingReport>().trained);
  report.repetition.index = json.value("repetition", std::int64_t{0});
}

void take_restarts(PassReport& report, const Json& json) {
  if (!report.repetition.training())
    throw Error(ErrorCode::kData, "a 'restarts' record without a repetition");
  read(json, "restarts", report.repetition.training()->restarts);
}

constexpr std::array kTrainingTypes{
    RecordType{
        "step_file",
        [](PassReport& r, const Json& j) { read(j, "mark", r.fill<TrainingReport>().step_file.emplace()); }},
    RecordType{"operators",
               [](PassReport& r, const Json& j) { read(j, "steps", r.fill<result::ProfiledSteps>()); }},
    RecordType{"interrupted", take_interrupted},
    RecordType{"trained", take_trained},
    RecordType{"restarts", take_restarts},
};

}  // namespace

std::span<const RecordType> training_records() {
  return kTrainingTypes;
}

Json step_file_record(const result::StepFileMark& mark) {
  return record("step_file", "mark", Writer::write(mark));
}
Json operators_record(const result::ProfiledSteps& steps) {
  return record("operators", "steps", Writer::write(steps));
}
Json interrupted_record(bool asked) {
  return {{"type", "interrupted"}, {"asked", asked}};
}
Json trained_record(const std::string& why) {
  return record("trained", "why", why);
}
Json restarts_record(const std::vector<result::RestartFigures>& restarts) {
  return record("restarts", "restarts", Writer::write(restarts));
}

}  // namespace paceline::pass
