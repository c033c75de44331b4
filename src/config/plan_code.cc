// SPDX-License-Identifier: MIT
#include "config/plan_code.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/lower_case.h"
#include "base/model_content.h"
#include "config/option_table.h"
#include "config/vocabulary.h"
#include "config/yaml_tree.h"

namespace paceline::config {
namespace {

using Kind = YamlNode::Kind;

bool always(std::string_view) {
  return true;
}

// A program without a folder is one of this machine, from PATH.
bool is_path(std::string_view value) {
  return value.find('/') != std::string_view::npos;
}

// Files that engines load as programs: TorchScript, packages of PyTorch, engines of TensorRT, shared objects.
bool is_program_file(std::string_view value) {
  constexpr std::array<std::string_view, 10> kEndings{".pt",  ".pth",  ".pt2",    ".ts",  ".torchscript",
                                                      ".jit", ".plan", ".engine", ".trt", ".so"};
  const auto name = lower_case(std::string(value));
  return std::ranges::any_of(kEndings, [&](std::string_view end) { return name.ends_with(end); });
}

// Without an ending of models, a file is what its content says.
bool is_program(std::string_view value) {
  if (find_model(value) || find_engine(value)) return false;
  return is_program_file(value) || is_program_file(model_suffix(std::string(value)));
}

struct CodeRule {
  std::string_view option;
  bool (*is_code)(std::string_view value);
};
constexpr std::array kRules{
    CodeRule{"plugin", always},
    CodeRule{"load_libraries", always},
    CodeRule{"cross_check_python", is_path},
    CodeRule{"models", is_program},
    CodeRule{"engines", is_program_file},
    CodeRule{"accuracy.reference", is_program},
};

// Variables of libraries that compute are figures, unless their name or value is one of files. All others,
// such as PATH and PYTHONPATH, can lead to code: even a number may be the name of a folder.
bool can_load_code(std::string_view name, const std::string& value) {
  constexpr std::array<std::string_view, 13> kPlain{"OMP_",  "GOMP_",     "KMP_",   "MKL_", "NCCL_",
                                                    "CUDA_", "TORCH_",    "GLOO_",  "UCX_", "ONEDNN_",
                                                    "DNNL_", "OPENBLAS_", "MALLOC_"};
  constexpr std::array<std::string_view, 7> kOfFiles{"_PLUGIN", "_FILE",    "_DIR",      "_PATH",
                                                     "_HOME",   "_LIBRARY", "_LIBRARIES"};
  if (std::ranges::any_of(kOfFiles, [&](std::string_view end) { return name.ends_with(end); })) return true;
  const bool plain =
      std::ranges::any_of(kPlain, [&](std::string_view begin) { return name.starts_with(begin); });
  return !plain || is_path(value);
}

// Walks a plan without judging it: what stands in a wrong place counts too, and is refused later.
class Finder {
 public:
  std::vector<PlannedCode> find(const YamlNode& root) {
    walk(root, "");
    return std::move(found_);
  }

 private:
  void walk(const YamlNode& map, const std::string& prefix) {
    for (std::size_t i = 0; i < map.keys.size() && i < map.items.size(); ++i)
      entry(prefix + map.keys[i].text, map.items[i]);
  }

  void entry(const std::string& path, const YamlNode& value) {
    const Option* option = find_option(path, kAnyKind | kPlanLevel);
    if (option && option->name == "env") return variables(value);
    const auto rule = option ? std::ranges::find(kRules, option->name, &CodeRule::option) : kRules.end();
    if (rule != kRules.end()) return values(value, std::string(rule->option), rule->is_code);
    if (value.kind == Kind::kMap) walk(value, path + ".");
    for (const auto& item : value.items)
      if (value.kind == Kind::kList && item.kind == Kind::kMap) walk(item, "");
  }

  void variables(const YamlNode& map) {
    if (map.kind != Kind::kMap) return;
    for (std::size_t i = 0; i < map.keys.size() && i < map.items.size(); ++i)
      values(map.items[i], "env." + map.keys[i].text,
             [&](const std::string& value) { return can_load_code(map.keys[i].text, value); });
  }

  template <class IsCode>
  void values(const YamlNode& node, const std::string& key, IsCode is_code) {
    const auto add = [&](const YamlNode& one) {
      if (one.kind == Kind::kScalar && is_code(one.text)) found_.push_back({key, one.text, one.place});
    };
    add(node);
    for (const auto& item : node.items) add(item);
  }

  std::vector<PlannedCode> found_;
};

}  // namespace

std::vector<PlannedCode> code_in_plan(const PlanText& plan) {
  try {
    return Finder().find(parse_yaml(plan.text, plan.source));
  } catch (const Error&) {
    return {};
  }
}

}  // namespace paceline::config
