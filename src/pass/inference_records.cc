// SPDX-License-Identifier: MIT
// Records of passes that prepare inference, check it, or profile its layers.
#include "pass/record_type.h"
#include "pass/records.h"
#include "result/stored/case_fields.h"

namespace paceline::result {

PACELINE_FIELDS(PictureTimes, decode_ns, resize_ns, normalise_ns);

}  // namespace paceline::result

namespace paceline::pass {

PACELINE_FIELDS(PreparedFile, format, size_bytes, duration_ns, quantisation, notes);

namespace {

using archive::Writer;

using Indexes = std::vector<std::pair<std::string, std::size_t>>;

DeclaredInput declared_input(const Json& from) {
  DeclaredInput input;
  input.name = from.at("name").get<std::string>();
  input.dtype = parse_dtype(from.at("dtype").get<std::string>());
  if (!from.at("shape").is_null()) input.shape = from.at("shape").get<Shape>();
  input.symbols = from.at("symbols").get<std::vector<std::string>>();
  if (!from.at("example").is_null()) input.example = from.at("example").get<Shape>();
  input.id_limit = from.at("id_limit").get<std::int64_t>();
  for (const auto& [name, dimension] : from.at("indexes").get<Indexes>())
    input.indexes.push_back({name, dimension});
  return input;
}

void take_description(PassReport& report, const Json& json) {
  auto& plugin = report.fill<PluginReport>();
  for (const auto& text : json.at("capabilities"))
    plugin.capabilities.push_back(plugin::capability_of(text.get<std::string>()));
  plugin.options = json.at("options").get<std::string>();
  plugin.first_op_ns = json.at("first_op_ns").is_null()
                           ? Number::missing(json.value("first_op_ns_reason", "not_measured"))
                           : Number(json.at("first_op_ns").get<double>());
}

void take_file_inputs(PassReport& report, const Json& json) {
  for (const auto& input : json.at("inputs"))
    report.fill<FileInputs>().inputs.push_back(declared_input(input));
}

// Keeps what is there, and so its reason, where the record has no number.
void read_count(const Json& from, const char* key, Count& into) {
  if (from.contains(key) && !from.at(key).is_null()) into = from.at(key).get<std::int64_t>();
}

void take_check(PassReport& report, const Json& json) {
  auto& check = report.fill<CheckReport>();
  read(json, "correctness", report.correctness);
  read(json, "precision", check.precision);
  read_count(json, "tensor_peak_bytes", check.tensor_peak_bytes);
  read_count(json, "reserved_peak_bytes", check.reserved_peak_bytes);
  if (!json.at("flops_per_item").is_null()) check.flops_per_item = json.at("flops_per_item").get<double>();
  if (!json.at("flops_per_byte").is_null()) check.flops_per_byte = json.at("flops_per_byte").get<double>();
  if (!json.at("convolution_share").is_null())
    check.convolution_share = json.at("convolution_share").get<double>();
}

void take_layers(PassReport& report, const Json& json) {
  auto& layers = report.fill<LayerReport>();
  read(json, "layers", layers.layers);
  read(json, "source", layers.source);
  read(json, "inferences", layers.inferences);
}

void take_inputs(PassReport& report, const Json& json) {
  auto& inputs = report.fill<InputsReport>();
  read(json, "samples_given", inputs.samples_given);
  read(json, "pictures", inputs.pictures);
  read(json, "left_out", inputs.left_out);
}

constexpr std::array kInferenceTypes{
    RecordType{"describe", take_description},
    RecordType{"file_inputs", take_file_inputs},
    RecordType{"inputs", take_inputs},
    RecordType{"prepared", [](PassReport& r, const Json& j) { read(j, "prepared", r.fill<PreparedFile>()); }},
    RecordType{"check", take_check},
    RecordType{"layers", take_layers},
    RecordType{"peaks", [](PassReport& r, const Json& j) { read(j, "peaks", r.fill<PeaksReport>().peaks); }},
};

template <typename T>
Json or_null(const Maybe<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

std::span<const RecordType> inference_records() {
  return kInferenceTypes;
}

Json describe_record(const PluginReport& plugin) {
  Json texts = Json::array();
  for (const auto& one : plugin.capabilities) texts.push_back(plugin::to_text(one));
  return {{"type", "describe"},
          {"capabilities", texts},
          {"options", plugin.options},
          {"first_op_ns", plugin.first_op_ns ? Json(*plugin.first_op_ns) : Json(nullptr)},
          {"first_op_ns_reason", plugin.first_op_ns.reason()}};
}
Json file_inputs_record(const std::vector<DeclaredInput>& inputs) {
  Json list = Json::array();
  for (const auto& input : inputs) {
    Indexes indexes;
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
Json inputs_record(const InputsReport& inputs) {
  return {{"type", "inputs"},
          {"samples_given", inputs.samples_given},
          {"pictures", Writer::write(inputs.pictures)},
          {"left_out", inputs.left_out}};
}
Json prepared_record(const PreparedFile& prepared) {
  return record("prepared", "prepared", Writer::write(prepared));
}
Json check_record(const result::Correctness& correctness, const CheckReport& check) {
  return {{"type", "check"},
          {"correctness", Writer::write(correctness)},
          {"precision", Writer::write(check.precision)},
          {"tensor_peak_bytes", or_null(check.tensor_peak_bytes)},
          {"reserved_peak_bytes", or_null(check.reserved_peak_bytes)},
          {"flops_per_item", or_null(check.flops_per_item)},
          {"flops_per_byte", or_null(check.flops_per_byte)},
          {"convolution_share", or_null(check.convolution_share)}};
}
Json peaks_record(const PeaksReport& report) {
  return record("peaks", "peaks", Writer::write(report.peaks));
}
Json layers_record(const LayerReport& layers) {
  return {{"type", "layers"},
          {"layers", Writer::write(layers.layers)},
          {"source", layers.source},
          {"inferences", layers.inferences}};
}

}  // namespace paceline::pass
