// SPDX-License-Identifier: MIT
#include "run/inference/case_preparation.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/model_content.h"
#include "base/npy.h"
#include "config/precision_table.h"
#include "config/vocabulary.h"
#include "onnx/model_file.h"
#include "pass/sensitivity.h"
#include "result/judged/reasons.h"
#include "run/artefacts/quantised_files.h"
#include "run/inference/built_files.h"
#include "run/inference/inference_results.h"
#include "run/inference/reference_factory.h"

namespace paceline::run {
namespace {

constexpr std::string_view kNoReference = "its fp32 reference could not be made";

// Keeps the code of a worker that ended by itself; its verdict on the file is a matter of the data.
std::string quantise_failure(const std::string& code) {
  return result::reason_of(code).exit_code == ExitCode::kWorkloadFailed ? code : "data";
}

bool end_unquantised(CaseRun& c, const std::string& code, const std::string& reason) {
  end_case(c, code, fmt::format("its {} file could not be made: {}", c.result.benchmark.precision, reason));
  return false;
}

// Takes the time of those before it into account.
void apply_next_file(CaseRun& c, const std::string& file, pass::PreparedFile prepared) {
  prepared.duration_ns += c.result.model_file.prepare_ns.value().value_or(0);
  apply_model_file(c, file, prepared);
}

}  // namespace

PreparePass CasePreparation::passes_of(const CaseRun& c, bool announced) const {
  return [this, &c, announced](const pass::PassSpec& pass) { return kept_.run(c, pass, announced); };
}

// A built-in model as the file that an engine reads; no path where the engine has the model itself. Missing:
// the case has ended, or the run is interrupted.
std::optional<CasePreparation::ModelFile> CasePreparation::model_file_for(CaseRun& c,
                                                                          const std::string& engine_name) {
  const auto* engine = config::find_engine(engine_name);
  if (!engine || engine->reads.empty() || !config::find_model(c.base.model.name)) return ModelFile{};
  auto pass = export_pass(c.base, std::string(engine->reads));
  if (engine->reads == "torchscript") pass.model.inputs = loaded_inputs(c.base);  // a trace has one batch
  auto& to = std::get<pass::ExportTo>(pass.task);
  const auto home = tools_.setup.engines.find(plugin::Role::kExporter, to.format);
  pass.use(plugin::Role::kExporter, to.format, home.file.string());
  if (home.file.empty()) {
    end_case(c, "unavailable", home.unavailable);
    return std::nullopt;
  }
  to.file = model_file_in(tools_.scratch, model_file_key(pass), to.format).string();
  try {
    const auto& made = graph_.want(written_by(pass, passes_of(c)));
    if (!tools_.interrupt) return ModelFile{to.file, made.get<pass::PreparedFile>()};
  } catch (const PassFailure& e) {
    if (!tools_.interrupt)
      end_case(c, e.reason_code(), fmt::format("its {} file could not be made: {}", to.format, e.what()));
  }
  return std::nullopt;
}

bool CasePreparation::make_model(CaseRun& c) {
  return use_model_file_of(c) && quantise(c) && build(c);
}

// False: the case has ended.
bool CasePreparation::use_model_file_of(CaseRun& c) {
  const auto file = model_file_for(c, c.base.engine());
  if (file && !file->path.empty()) apply_model_file(c, file->path, file->prepared);
  return file.has_value();
}

// The file of a built-in model again as the one file that the engine takes, for these shapes. False: the case
// has ended, or the run is interrupted.
bool CasePreparation::build(CaseRun& c) {
  const auto* engine = config::find_engine(c.base.engine());
  if (!engine || !engine->built || c.model_file.empty()) return true;
  try {
    const auto target = built_target(c);
    auto prepared = graph_.want(target).get<pass::PreparedFile>();
    if (tools_.interrupt) return false;
    prepared.quantisation = c.result.model_file.quantisation;
    apply_next_file(c, target.key, prepared);
    return true;
  } catch (const Error& e) {
    if (tools_.interrupt) return false;
    const bool skip = e.code() == ErrorCode::kUnavailable || e.code() == ErrorCode::kUnsupported;
    end_case(c, skip ? "unavailable" : "error", e.what());
    return false;
  }
}

// The observer hears of the build.
Target CasePreparation::built_target(CaseRun& c) {
  auto target = built_file(tools_.setup.engines, build_order(c, tools_.scratch), tools_.interrupt);
  target.make = [this, &c, make = std::move(target.make)] {
    const PassInfo info{0, 0, c.result.label, "build", 0, 0, c.definition.id};
    tools_.observer.pass_begins(info);
    try {
      auto report = make();
      tools_.observer.pass_ends(info, "");
      return report;
    } catch (const Error& e) {
      tools_.observer.pass_ends(info, e.what());
      throw;
    }
  };
  return target;
}

// The case's ONNX file again in int8 or fp16. False: the case has ended.
bool CasePreparation::quantise(CaseRun& c) {
  const std::string source = c.model_file.empty() ? c.base.model.file : c.model_file;
  const auto* engine = config::find_engine(c.base.engine());
  if (!engine || engine->reads != "onnx") return true;
  try {
    if (!needs_quantising(c.definition.settings, source)) return true;
    const auto target = quantised_target(c, source);
    const auto& made = graph_.want(target);
    if (tools_.interrupt) return false;
    apply_next_file(c, target.key, made.get<pass::PreparedFile>());
    return true;
  } catch (const PassFailure& e) {
    return !tools_.interrupt && end_unquantised(c, quantise_failure(e.reason_code()), e.what());
  } catch (const Error& e) {
    const bool skip = e.code() == ErrorCode::kUnavailable || e.code() == ErrorCode::kUnsupported;
    return end_unquantised(c,
                           skip                             ? "unavailable"
                           : e.code() == ErrorCode::kConfig ? "config"
                                                            : "data",
                           e.what());
  }
}

// The observer hears how much each layer loses, where that is asked for.
Target CasePreparation::quantised_target(CaseRun& c, const std::string& source) {
  const auto& settings = c.definition.settings;
  auto pass = quantise_pass(settings, c.base, source, tools_.setup.engines);
  auto& to = std::get<pass::QuantiseTo>(pass.task);
  auto calibration = add_calibration(settings, pass, tools_.scratch, passes_of(c, /*announced=*/false));
  const bool int8 = to.precision == "int8";
  if (int8) {
    to.cache_file = calibration_file(settings, pass, tools_.run_dir).string();
    if (!settings.has("calib_cache")) check_own_name(to.cache_file);
    if (calibrates_with_random_inputs(settings)) tools_.observer.warning(kRandomCalibration);
  }
  const auto key = quantised_file_key(pass);
  if (settings.flag("int8_sensitivity") && int8)
    to.sensitivity_file = (tools_.run_dir / fmt::format("int8-sensitivity-{}.json", key)).string();
  to.file = model_file_in(tools_.scratch, key, "onnx").string();
  auto target = quantised_file(pass, passes_of(c), std::move(calibration));
  if (to.sensitivity_file.empty()) return target;
  target.make = [this, make = std::move(target.make), study = to.sensitivity_file] {
    auto report = make();
    tools_.observer.document(pass::sensitivity_table(read_file(study)));
    return report;
  };
  return target;
}

namespace {

// The reference of a slow model stops before its last input; the check and other runs beside it stop there
// too.
void use_its_samples(pass::PassSpec& pass, pass::PassSpec& reference) {
  auto& check = pass.inference;
  auto& question = check.accuracy;
  if (question.least_samples == 0 || !std::filesystem::exists(check.reference_file)) return;
  check.samples = read_npy_spec(check.reference_file).shape.at(0);
  question.samples_asked = std::min(question.samples_asked, check.samples);
  question.least_samples = 0;
  reference.inference.samples = check.samples, reference.inference.accuracy = question;
}

constexpr const char* kOwnRun = "the file's own unoptimised run in onnxruntime";

// True for a file that was given in int8: there is no float model beside it.
bool runs_unoptimised_int8(const CaseRun& c, const pass::PassSpec& reference) {
  return c.model_file.empty() && reference.engine() == "onnxruntime" &&
         runs_int8(std::string(config::kPrecisionOfFile), reference.model.file);
}

}  // namespace

bool CasePreparation::make_reference(CaseRun& c, pass::PassSpec& pass, Units units) {
  auto& check = pass.inference;
  if (!check.reference_file.empty()) return true;  // the user's own
  if (c.definition.settings.text("accuracy.check") == "off") {
    check.accuracy.unchecked_because = "accuracy.check is off; only that outputs are finite";
    return true;
  }
  check.accuracy.every_change = units.largest;
  const auto choice = reference_choice(c.definition);
  if (!choice.model.empty()) return make_model_reference(c, pass, choice.model, units);
  const std::string& named = choice.engine;
  const auto* file_type = config::find_file_type(pass.model.file);
  const bool eager_reads_it = config::find_model(pass.model.name) || (file_type && file_type->engine.empty());
  const std::string engine = named == "eager" && !eager_reads_it
                                 ? file_reference_engine(tools_.setup.engines, pass.model.file)
                                 : named;
  const auto home = tools_.setup.engines.find(engine);
  if (engine == "eager" && (!eager_reads_it || home.file.empty())) return true;
  if (home.file.empty()) {
    end_case(c, "unavailable", fmt::format("accuracy reference '{}': {}", engine, home.unavailable));
    return false;
  }
  auto reference = reference_pass(pass, engine);
  reference.use(plugin::Role::kEngine, reference.engine(), home.file.string());
  const auto* row = config::find_engine(engine);
  const bool built = row && row->built;  // for cases alone: the engine says so itself
  const auto model_file = built ? std::optional(ModelFile{}) : model_file_for(c, engine);
  if (!model_file) return false;
  if (!model_file->path.empty()) reference.model.name.clear(), reference.model.file = model_file->path;
  reference.inference.reference_file = pass.inference.reference_file =
      reference_file(reference_key(reference));
  pass.inference.reference_name = reference_name(pass, engine);
  if (engine == named) {
    if (!run_reference(c, reference)) return false;
  } else if (const auto failure = reference_failure(c, reference)) {
    return skip_reference(c, pass, reference, *failure);
  }
  if (tools_.interrupt) return false;
  use_its_samples(pass, reference);
  add_second_reference(c, pass, reference);
  if (runs_unoptimised_int8(c, reference)) {
    check.accuracy.engine_file = check.reference_file;
    check.accuracy.engine_name = kOwnRun;
    check.accuracy.is_own_run = true;
  }
  return run_unoptimised_reference(c, pass, c.model_file, units.of_own_run);
}

// The engine that was chosen here cannot make the reference. Where it cannot read the file, the case's own
// engine makes it. Else the case runs unchecked, so that it says itself what is wrong, and fails after that.
bool CasePreparation::skip_reference(CaseRun& c, pass::PassSpec& pass, const pass::PassSpec& reference,
                                     const PassFailure& failure) {
  auto& check = pass.inference;
  const bool read_the_file = failure.phase() != pass::kStartPhase && failure.phase() != pass::kLoadPhase;
  if (!read_the_file && reference.engine() != pass.engine()) {
    auto own = reference;
    own.use(plugin::Role::kEngine, pass.engine());
    own.settings.options.clear();
    if (const auto run = second_run(c, own); !run.file.empty()) {
      check.reference_file = run.file;
      check.reference_name = reference_name(own, pass.engine());
      check.accuracy.independence =
          fmt::format("the reference also ran in {}, and {} cannot run the file ({})", pass.engine(),
                      reference.engine(), failure.what());
      check.accuracy.refused_by = reference.engine();
      return !tools_.interrupt;
    }
  }
  check.reference_file.clear();
  check.reference_name.clear();
  check.accuracy.unchecked_because =
      fmt::format("{} cannot run the file in fp32 ({}); only that outputs are finite", reference.engine(),
                  failure.what());
  c.no_reference = fmt::format("{}: {}", kNoReference, failure.what());
  return !tools_.interrupt;
}

// Outputs that stand beside the reference's, without a unit of errors.
CasePreparation::SecondRun CasePreparation::second_run(CaseRun& c, pass::PassSpec reference) {
  auto& accuracy = reference.inference.accuracy;
  accuracy.yardsticks = accuracy.unit_only = accuracy.every_change = false;
  return run_beside(c, reference);
}

// A failure is no failure of the case. Returns the file, or why there is none.
CasePreparation::SecondRun CasePreparation::run_beside(CaseRun& c, const pass::PassSpec& given) {
  auto reference = given;
  const auto home = tools_.setup.engines.find(reference.engine());
  if (home.file.empty()) return {{}, home.unavailable};
  reference.use(plugin::Role::kEngine, reference.engine(), home.file.string());
  reference.inference.accuracy.least_samples = 0;
  const std::string key =
      reference_key(reference) + (reference.inference.accuracy.yardsticks ? "-unit" : "-plain");
  reference.inference.reference_file = reference_file(key);
  const auto failure = reference_failure(c, reference);
  return failure ? SecondRun{{}, failure->what()} : SecondRun{reference.inference.reference_file, {}};
}

constexpr std::int64_t kWitnessed = 4;  // inputs: as many as the unit of errors is from

// A reference by the case's own engine is independent where another library's run agrees with it.
void CasePreparation::add_second_reference(CaseRun& c, pass::PassSpec& pass,
                                           const pass::PassSpec& reference) {
  if (!runs_same_code(pass, reference)) return;
  auto& question = pass.inference.accuracy;
  question.independence =
      reference.model.file.empty()
          ? fmt::format("the reference of built-in models runs in {} itself", pass.engine())
          : fmt::format("the reference also ran in {}, and no other engine here takes this model",
                        pass.engine());
  const auto other = other_reader(tools_.setup.engines, reference.model.file, reference.engine());
  if (other.empty()) return;
  auto witness = reference;
  witness.use(plugin::Role::kEngine, other);
  witness.settings.options.clear();
  witness.inference.samples =
      std::min(witness.inference.samples, (kWitnessed + witness.batch - 1) / witness.batch * witness.batch);
  const auto run = second_run(c, witness);
  question.witness_file = run.file;
  question.witness_name = other;
  if (!run.file.empty()) return;
  question.refused_by = other;
  question.independence = fmt::format("the reference also ran in {}, and {} cannot run the file ({})",
                                      pass.engine(), other, run.why_not);
}

// Tells from an int8 file's own unoptimised run whether the engine or the file is at fault. False:
// interrupted.
bool CasePreparation::run_unoptimised_reference(CaseRun& c, pass::PassSpec& pass, const std::string& file,
                                                bool with_unit) {
  if (model_suffix(file) != ".onnx" || !runs_int8(c.definition.settings.text("precision"), file))
    return !tools_.interrupt;
  auto own = reference_pass(pass, "onnxruntime");
  own.model.name.clear(), own.model.file = file;
  bool& unit = units_of_own_runs_[file];
  unit = unit || with_unit;
  auto& accuracy = own.inference.accuracy;
  accuracy.yardsticks = accuracy.unit_only = accuracy.every_change = unit;
  pass.inference.accuracy.engine_file = run_beside(c, own).file;
  pass.inference.accuracy.engine_name = kOwnRun;
  return !tools_.interrupt;
}

// Another model, say the float one of a quantised file. False: the case has ended.
bool CasePreparation::make_model_reference(CaseRun& c, pass::PassSpec& pass, const std::string& model,
                                           Units units) {
  const auto engine = reader_of(tools_.setup.engines, model);
  const auto home = tools_.setup.engines.find(engine);
  if (home.file.empty()) {
    end_case(c, "unavailable", fmt::format("accuracy reference '{}': {}", model, home.unavailable));
    return false;
  }
  auto reference = model_reference_pass(pass, model, engine);
  reference.use(plugin::Role::kEngine, reference.engine(), home.file.string());
  reference.inference.reference_file = pass.inference.reference_file =
      reference_file(reference_key(reference));
  pass.inference.reference_name = fmt::format("the fp32 run of {} in {}", model, engine);
  if (!run_reference(c, reference)) return false;
  use_its_samples(pass, reference);
  add_second_reference(c, pass, reference);
  return run_unoptimised_reference(c, pass, c.model_file.empty() ? pass.model.file : c.model_file,
                                   units.of_own_run);
}

// Makes the reference. None when it is there or the run is interrupted.
std::optional<PassFailure> CasePreparation::reference_failure(CaseRun& c, const pass::PassSpec& reference) {
  try {
    graph_.want(written_by(reference_alone(reference), passes_of(c)));
  } catch (const PassFailure& e) {
    if (!tools_.interrupt) return e;
  }
  return std::nullopt;
}

bool CasePreparation::run_reference(CaseRun& c, const pass::PassSpec& reference) {
  const bool known = graph_.knows(reference.inference.reference_file);
  const auto failure = reference_failure(c, reference);
  if (tools_.interrupt) return false;
  if (!failure) return true;
  c.result.lacks_reference = true;
  end_case(c, known ? "reference" : failure->reason_code(),
           fmt::format("{}: {}", kNoReference, failure->what()));
  return false;
}

std::string CasePreparation::reference_file(const std::string& key) const {
  return (tools_.scratch / ("reference-" + key + ".npy")).string();
}

}  // namespace paceline::run
