// SPDX-License-Identifier: MIT
#include "result/stored/result_json.h"

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/text.h"
#include "result/stored/case_fields.h"

namespace paceline::result {
namespace {

// Known fields win; what only the old object has is kept, at every depth.
void merge_known(Json& base, const Json& known) {
  if (!base.is_object() || !known.is_object()) {
    base = known;
    return;
  }
  for (const auto& [key, value] : known.items()) {
    if (base.contains(key) && base[key].is_object())
      merge_known(base[key], value);
    else
      base[key] = value;
  }
}

// A field that has a value again must not keep the reason of its absence.
void drop_stale_reasons(Json& json) {
  if (!json.is_object()) return;
  for (auto it = json.begin(); it != json.end();) {
    const std::string& key = it.key();
    const std::string_view suffix = "_reason";
    const bool is_reason = key.size() > suffix.size() && key.ends_with(suffix);
    const std::string field = is_reason ? key.substr(0, key.size() - suffix.size()) : std::string();
    if (is_reason && json.contains(field) && !json[field].is_null())
      it = json.erase(it);
    else
      ++it;
  }
  for (auto& value : json) drop_stale_reasons(value);
}

template <typename T>
Json merged(const T& value) {
  Json out = value.unknown.is_object() ? value.unknown : Json::object();
  merge_known(out, Writer::write(value));
  drop_stale_reasons(out);
  return out;
}

template <typename T>
T from_json(const Json& json, const std::string& origin) {
  T value;
  try {
    Reader::read(json, "", value);
  } catch (const Error& e) {
    throw Error(ErrorCode::kData, fmt::format("'{}' is not a valid result file: {}", origin, e.what()));
  }
  const std::string major = split(value.schema_version, '.').front();
  if (major != split(kSchemaVersion, '.').front())
    throw Error(ErrorCode::kData, fmt::format("'{}' has schema version {}, this paceline reads {}.x", origin,
                                              value.schema_version, split(kSchemaVersion, '.').front()));
  return value;
}

}  // namespace

Json to_json(const CaseResult& result) {
  return merged(result);
}

Json to_json(const RunResult& run) {
  Json out = merged(run);
  out["cases"] = Json::array();
  for (const auto& c : run.cases) out["cases"].push_back(to_json(c));
  return out;
}

CaseResult case_from_json(Json json, const std::string& origin) {
  auto result = from_json<CaseResult>(json, origin);
  result.unknown = std::move(json);
  return result;
}

RunResult run_from_json(Json json, const std::string& origin) {
  auto run = from_json<RunResult>(json, origin);
  for (std::size_t i = 0; i < run.cases.size(); ++i) run.cases[i].unknown = std::move(json["cases"][i]);
  json.erase("cases");
  run.unknown = std::move(json);
  return run;
}

std::string json_text(const Json& json) {
  return json_without_controls(json.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

Json parse_json(const std::string& text, const std::string& origin) {
  try {
    return parsed_json(text);
  } catch (const Json::exception& e) {
    throw Error(ErrorCode::kData,
                fmt::format("'{}' is not valid JSON (cut off or damaged): {}", origin, plain_reason(e)));
  }
}

}  // namespace paceline::result
