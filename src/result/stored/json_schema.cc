// SPDX-License-Identifier: MIT
// Writes the JSON Schema of the results from the field list.
#include <algorithm>

#include "result/stored/case_fields.h"
#include "result/stored/result_json.h"

namespace paceline::result {
namespace {

// An archive that records types instead of values: the schema cannot differ from what is written.
class SchemaMaker {
 public:
  template <typename T>
  static Json of(const T& sample) {
    if constexpr (archive::HasNames<T>) {
      Json names = Json::array();
      for (const auto& [e, name] : archive::EnumNames<T>::kValue)
        if (std::ranges::find(names, name) == names.end()) names.push_back(std::string(name));
      if constexpr (archive::HasNull<T>) names.push_back(nullptr);
      return {{"enum", names}};
    } else if constexpr (std::is_same_v<T, Json>) {
      return Json::object();
    } else if constexpr (std::is_same_v<T, std::string>) {
      return {{"type", "string"}};
    } else if constexpr (std::is_same_v<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::is_integral_v<T>) {
      return {{"type", "integer"}};
    } else if constexpr (std::is_floating_point_v<T>) {
      return {{"type", "number"}};
    } else {
      SchemaMaker maker;
      T copy = sample;
      fields(maker, copy);
      return {{"type", "object"}, {"properties", maker.properties_}, {"required", maker.required_}};
    }
  }
  template <typename T>
  static Json of(const std::vector<T>&) {
    return {{"type", "array"}, {"items", of(T{})}};
  }
  template <typename T>
  static Json of(const std::optional<T>&) {
    return of(std::vector<T>());
  }
  static Json of(const std::map<std::string, std::string>&) {
    return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
  }

  template <typename T>
  void operator()(const char* name, T& value) {
    properties_[name] = of(value);
    if constexpr (archive::HasNull<T>) properties_[std::string(name) + "_reason"] = {{"type", "string"}};
    required_.push_back(name);
  }
  template <typename T>
  void operator()(const char* name, Maybe<T>&) {
    Json schema = of(T{});
    schema["type"] = Json::array({schema["type"], "null"});
    properties_[name] = schema;
    properties_[std::string(name) + "_reason"] = {{"type", "string"}};
    required_.push_back(name);
  }

 private:
  Json properties_ = Json::object();
  Json required_ = Json::array();
};

}  // namespace

Json result_json_schema() {
  Json schema = SchemaMaker::of(RunResult{});
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "paceline run_summary.json (its `cases` entries are result.json)";
  return schema;
}

}  // namespace paceline::result
