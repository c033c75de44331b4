// SPDX-License-Identifier: MIT
#include "run/inference/kept_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/file.h"
#include "base/own_environment.h"
#include "base/sha256.h"
#include "base/text.h"
#include "config/vocabulary.h"
#include "host/machine/loaded_objects.h"
#include "pass/input_layout.h"
#include "run/case/content_digest.h"
#include "run/case/model_parts.h"

namespace paceline::run {
namespace fs = std::filesystem;
using Json = nlohmann::json;
namespace {

constexpr int kFormat = 1;                             // of what an entry says of itself
constexpr std::int64_t kLargestModel = 2'000'000'000;  // bytes that are digested before every run

// Beginnings of variables that choose libraries, or how they compute. Of an engine of the user's all count.
constexpr std::array<std::string_view, 25> kVariables{
    "LD_",     "ONNXRUNTIME_", "ORT_",    "OV_",       "OPENVINO_", "TORCH",  "PYTORCH_",  "ATEN_", "MKL_",
    "ONEDNN_", "DNNL_",        "OMP_",    "GOMP_",     "KMP_",      "TBB_",   "OPENBLAS_", "BLIS_", "CUDA_",
    "CUDNN_",  "CUBLAS_",      "NVIDIA_", "TENSORRT_", "TRT_",      "GLIBC_", "PACELINE_"};

Json variables(bool all) {
  Json chosen = Json::object();
  for (const auto& [name, value] : own_environment())
    if (all || std::ranges::any_of(kVariables, [&](auto begin) { return name.starts_with(begin); }))
      chosen[name] = value;
  return chosen;
}

bool is_of_the_user(const pass::PassSpec& pass) {
  const auto engine = pass.engine();
  return !engine.empty() && !config::find_engine(engine);
}

Json digests_of(const std::set<std::string>& files) {
  Json digests = Json::array();
  for (const auto& file : files)
    if (fs::exists(file)) digests.push_back(content_digest(file));
  return digests;
}

Json digests_in_order(const std::vector<std::string>& files) {
  Json digests = Json::array();
  for (const auto& file : files) digests.push_back(content_digest(file));
  return digests;
}

bool is_too_large(const std::string& model) {
  std::uintmax_t bytes = 0;
  for (const auto& part : model_parts(model))
    if (std::error_code error; fs::exists(part, error)) bytes += fs::file_size(part, error);
  return bytes > static_cast<std::uintmax_t>(kLargestModel);
}

// Names of files that the pass writes; those of its user are none of them. Empty: nothing is kept of it.
std::vector<fs::path> stems_of(const pass::PassSpec& pass, const fs::path& run_dir) {
  std::vector<fs::path> stems;
  if (const auto* inputs = std::get_if<pass::InputsTo>(&pass.task)) {
    if (!inputs->request.load_inputs.empty() || !inputs->request.image_dir.empty()) return {};
    for (const auto& file : pass::input_file_names(inputs->prefix, inputs->request.specs.size()))
      stems.emplace_back(file);
  } else if (const auto* to = std::get_if<pass::QuantiseTo>(&pass.task)) {
    const fs::path cache = to->cache_file;
    if (!cache.empty() && cache.parent_path() != run_dir) return {};
    for (const auto& file : {to->file, to->cache_file, to->sensitivity_file})
      if (!file.empty()) stems.emplace_back(file);
  } else if (pass.kind == pass::PassKind::kReference) {
    stems.emplace_back(pass.inference.reference_file);
  }
  return stems;
}

// The pass without names of files, whose content is digested beside it.
Json without_files(pass::PassSpec pass) {
  pass.case_id.clear();
  pass.model.file = fs::path(pass.model.file).extension().string();
  pass.model.weights_file.clear();
  pass.inference.input_files.clear();
  pass.inference.reference_file.clear();
  if (auto* to = std::get_if<pass::InputsTo>(&pass.task)) to->prefix.clear();
  if (auto* to = std::get_if<pass::QuantiseTo>(&pass.task)) {
    to->file.clear();
    for (auto* file : {&to->cache_file, &to->sensitivity_file})
      if (!file->empty()) *file = "wanted";
  }
  return pass::to_json(pass);
}

// The records of a pass that were kept, without the seal of the file that held them.
pass::PassReport report_of(const std::string& records) {
  pass::PassReport report;
  for (const auto& line : split(records, '\n')) {
    if (line.empty()) continue;
    const auto json = json_or_discarded(line);
    if (!json.is_object() || json.value("type", "") == "seal") continue;
    pass::apply_record(report, json);
  }
  return report;
}

}  // namespace

KeptPasses::KeptPasses(const KindTools& tools) : tools_(tools), store_(tools.setup.kept_folder) {}

std::string KeptPasses::key_of(const CaseRun& c, const pass::PassSpec& pass) const try {
  const bool keeps = !tools_.setup.kept_folder.empty() && !stems_of(pass, tools_.run_dir).empty() &&
                     !is_too_large(pass.model.file) && !is_too_large(pass.model.weights_file);
  if (!keeps) return {};
  const auto& environment = tools_.setup.environment;
  const auto of_environment = [&](const char* pointer) {
    return environment.value(Json::json_pointer(pointer), Json());
  };
  Json key{
      {"format", kFormat}, {"pass", without_files(pass)}, {"variables", variables(is_of_the_user(pass))}};
  key["environment"] = c.definition.env;
  key["program"] = of_environment("/binary_sha256");
  for (const char* fact : {"model", "family", "model_number", "stepping", "microcode", "isa"})
    key["cpu"][fact] = of_environment((std::string("/cpu/") + fact).c_str());
  key["model"] = digests_of(model_parts(pass.model.file));
  key["weights"] = digests_of(model_parts(pass.model.weights_file));
  key["inputs"] = digests_in_order(pass.inference.input_files);
  return sha256_hex(key.dump(-1, ' ', false, Json::error_handler_t::replace));
} catch (const Error&) {
  return {};  // a file that cannot be read: the pass says so
}

std::optional<process::WorkerOutcome> KeptPasses::kept(const CaseRun& c, const pass::PassSpec& pass,
                                                       const std::string& key) const {
  const auto taken = store_.take(key, stems_of(pass, tools_.run_dir), [](const Json& about) {
    const auto changed = host::changed_file(about.at("objects"));
    return changed.empty() ? std::string() : fmt::format("'{}' has changed", changed);
  });
  const auto name = pass::pass_kind_name(pass.kind);
  if (!taken.problem.empty())
    append_file(c.log(),
                fmt::format("# {}: what an earlier run kept is not used: {}\n", name, taken.problem));
  if (!taken.about) return std::nullopt;
  append_file(c.log(), fmt::format("# {}: as an earlier run kept it (--fresh makes it again)\n", name));
  process::WorkerOutcome outcome;
  outcome.report = report_of(taken.about->at("records").get<std::string>());
  outcome.ok = true;
  return outcome;
}

process::WorkerOutcome KeptPasses::make(const CaseRun& c, pass::PassSpec pass, const std::string& key,
                                        bool announced) const {
  const auto beside = tools_.scratch / ("kept-" + key);
  const fs::path records = beside.string() + ".jsonl";
  pass.objects_file = beside.string() + ".objects.json";
  auto outcome = tools_.runner.run_recorded(c, pass, records, announced);
  if (!outcome.ok || !fs::exists(pass.objects_file)) return outcome;
  const Json about{{"records", read_file(records)}, {"objects", parsed_json(read_file(pass.objects_file))}};
  store_.keep(key, about, stems_of(pass, tools_.run_dir));
  return outcome;
}

process::WorkerOutcome KeptPasses::run(const CaseRun& c, const pass::PassSpec& pass, bool announced) const {
  const auto key = key_of(c, pass);
  if (key.empty()) return announced ? tools_.runner.run_announced(c, pass) : tools_.runner.run(c, pass);
  PhaseWatch watch(pass::pass_kind_name(pass.kind));
  if (!tools_.setup.fresh)
    if (auto outcome = kept(c, pass, key)) {
      auto times = watch.end();
      times.phases = {{"kept", times.seconds()}};
      tools_.observer.pass_timed(times);
      return std::move(*outcome);
    }
  return make(c, pass, key, announced);
}

}  // namespace paceline::run
