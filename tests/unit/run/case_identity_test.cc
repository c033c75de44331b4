// SPDX-License-Identifier: MIT
#include "run/case/case_identity.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

#include "base/json.h"
#include "config/value.h"
#include "pass/pass.h"
#include "result/stored/result_json.h"
#include "run/artefacts/input_requests.h"
#include "run/collective/collective_factory.h"
#include "run/inference/pass_factory.h"
#include "run/ranks/rank_settings.h"
#include "run/training/train_factory.h"

// Walks all option rows: what changes the measured work tells cases apart.
namespace paceline::run {
namespace {

using config::Case;
using config::Option;
using Json = nlohmann::json;

// Cases that use as many options as one case can.
const std::map<unsigned, std::vector<std::string>> kPlans{
    {config::kInference,
     {"kind: inference\nmodel: resnet50\n",
      "kind: inference\nmodel: gpt2\ndevice: cuda\nscenario: server\nslo: p99=50ms\n",
      "kind: inference\nmodel: resnet50\nengine: onnxruntime\n",
      "kind: inference\nmodel: resnet50\nengine: openvino\nscenario: closed_loop\nconcurrency: 2\n"}},
    {config::kTraining,
     {"kind: training\nmodel: tiny_cnn\n",
      "kind: training\nmodel: gpt2\nranks: 2\ndevice: cuda\nbackend: gloo\ncheckpoint: {dir: d}\n"}},
    {config::kind_bit(config::WorkloadKind::kCollective),
     {"kind: collective\n",
      "kind: collective\ncollective: broadcast\nranks: 4\ndevice: cuda\nbackend: gloo\n"}}};

// A value of options whose text has a form of its own.
const std::map<std::string, std::string> kTexts{{"step_bytes", "1M"},
                                                {"models", "bert-large"},
                                                {"engines", "torchscript"},
                                                {"accuracy.reference", "torchscript"},
                                                {"slo", "p90=20ms"},
                                                {"inject", "nan:rank=0,step=1"},
                                                {"shapes", "x:1x3"},
                                                {"device", "cuda:1"},
                                                {"profiling.tool", "nsys"},
                                                {"feedback", "a:b"},
                                                {"input_values", "input:0..3"},
                                                {"new_shapes", "1"}};

// Work of a worker, without how long, how exactly and where files are.
Json work_of(const Case& c) {
  if (c.kind == config::WorkloadKind::kTraining) {
    const auto pass = pass::to_json(train_pass(c, {}));
    auto train = pass.at("train");
    for (const char* how : {"epochs", "eval_every_epochs", "profile"}) train.erase(how);
    for (const char* how : {"dir", "keep", "resume", "timeout_s"}) train.at("checkpoint").erase(how);
    return {train,
            pass.at("model"),
            pass.at("batch"),
            pass.at("world_size"),
            pass.at("ranks").at("device"),
            pass.at("ranks").at("backend")};
  }
  if (c.kind == config::WorkloadKind::kCollective) {
    const auto pass = pass::to_json(collective_pass(c, rank_device(c, "cpu"), 1));
    auto sweep = pass.at("collective");
    for (const char* how : {"warmup", "batch", "checks", "rounds", "round_bytes", "slow_factor"})
      sweep.erase(how);
    return {sweep, pass.at("world_size"), pass.at("ranks").at("device"), pass.at("ranks").at("backend")};
  }
  if (c.kind != config::WorkloadKind::kInference) return {};  // no pass of theirs is made without a run
  const auto spec = base_pass(c, 2);
  const auto pass = pass::to_json(spec);
  const auto& inference = pass.at("inference");
  auto load = inference.at("load");
  for (const char* how : {"t_min_s", "t_max_s", "arrival_seed", "max_requests", "slo_p", "slo_bound_s"})
    load.erase(how);
  auto request = input_request(c, spec);
  request.specs.clear();  // as many as are checked
  return {load,
          spec.engine(),
          pass.at("model"),
          pass.at("settings"),
          pass.at("batch"),
          inference.at("cache_mode"),
          inference.at("feedback"),
          request_key(request)};
}

Json identity_of(const Case& c) {
  auto benchmark = result::to_json(new_case_result(c, "run")).at("benchmark");
  benchmark.erase("id");
  return benchmark;
}

// Another value than the default, as a plan has it; empty: a map has none.
std::string other_value(const Option& option) {
  const auto text = kTexts.find(std::string(option.name));
  if (text != kTexts.end()) return text->second;
  if (option.is_map()) return "";
  if (option.type == config::OptionType::kBoolean) return option.fallback == "true" ? "false" : "true";
  for (const auto& choice : option.choices)
    if (choice.available && choice.name != option.fallback) return std::string(choice.name);
  const auto [min, max] = option.range;
  if (!std::isfinite(min)) return "x";
  const double wanted = max <= 1 ? (min + max) / 2 : std::max(min, 1.0);
  return fmt::format("{}", fmt::format("{}", wanted) == option.fallback ? wanted + 1 : wanted);
}

// The case with another value of the option.
Case changed(Case c, const Option& option) {
  const auto [value, problem] = config::convert(option, {other_value(option), {}, false});
  if (!value) throw std::runtime_error(problem);
  const std::size_t many = option.name == "training.betas" ? 2 : 1;
  c.settings.set_list(config::singular(option), std::vector(many, *value));
  return c;
}

// Whether the option changes it in any case of its kind.
bool changes(const Option& option, unsigned kind, const std::function<Json(const Case&)>& fact) {
  const auto& plans = kPlans.at(kind);
  return std::any_of(plans.begin(), plans.end(), [&](const std::string& plan) {
    const auto c = config::expand(config::load_plan_text(plan, "p.yaml")).at(0);
    return fact(changed(c, option)) != fact(c);
  });
}

TEST(CaseIdentity, HasEveryOptionThatChangesTheWork) {
  for (const auto& [kind, plans] : kPlans)
    for (const Option* option : config::options_of(kind)) {
      if (option->is_map() || !changes(*option, kind, work_of)) continue;
      EXPECT_TRUE(changes(*option, kind, identity_of))
          << option->name << " changes what is measured, and its row is aside";
    }
}

TEST(CaseIdentity, HasEveryRowThatIsNotSaidToBeOutside) {
  const std::set<std::string_view> settled_later{"kind", "timing_mode"};
  for (const auto& row : config::kWorkloadKinds)
    for (const Option* option : config::options_of(config::kind_bit(row.kind))) {
      if (option->is_map() || settled_later.contains(option->name)) continue;
      EXPECT_EQ(changes(*option, config::kind_bit(row.kind), identity_of), option->identity) << option->name;
    }
}

}  // namespace
}  // namespace paceline::run
