// SPDX-License-Identifier: MIT
// Row of an option: its type, form, range, where it is allowed, and when it has no effect.
#pragma once
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

#include "config/option_places.h"

namespace paceline::config {

enum class OptionType {
  kText,
  kInteger,
  kNumber,
  kBoolean,
  kChoice,
  kChoiceOrFile,  // one of `choices`, or a file
  kBytes,         // a size: 8, 64K, 256M (powers of 1024)
  kModel,         // a name of the vocabulary, of a plug-in, or a model file
  kEngine,        // likewise
  kReference,     // an engine's name, a model file, or a file of expected outputs
  kShapes,        // trtexec's syntax
  kExpression,    // text in which commas have a meaning of their own
};
enum class OptionForm {
  kSingle,
  kAxis,     // a list becomes an axis of the cases; one value is a list of one
  kList,     // a list that is one setting
  kMap,      // names to single values
  kAxisMap,  // names to values or lists; each name is an axis
};

struct Choice {
  std::string_view name;
  bool available = true;  // false: accepted, never offered, and answered with why it does nothing
};

struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};

// How a case's value shows in its name: "b8". `kSeveral`: only where the plan has several values.
enum class Shown { kAlways, kSeveral, kNotDefault };
struct NamePart {
  int place = 0;  // the order of the parts; 0: it is not a part
  std::string_view prefix{};
  Shown shown = Shown::kAlways;
  std::string_view hidden{};  // a value that is not shown, as the default is not
};

// A value of another option without which an option changes nothing: engine: openvino, sampler: nvml. Only
// cases that have it get the option's default.
struct Owner {
  std::string_view option{}, name{};
};

// Why an option changes nothing; idle_options.cc knows when, and says it in this order.
enum class Idle {
  kNever,
  kAdamw,
  kSgd,
  kNoCosine,
  kNoStepSchedule,
  kNoDropout,
  kCpuChoosesNothing,
  kCpuIsInStep,
  kOneRank,
  kNoImages,
  kNoFiles,
  kOneBatch,
  kNoWorkers,
  kNotSynthetic,
  kNotAugmented,
  kNoDdp,
  kNoStatistics,
  kNoGroup,
  kNoCheckpoints,
  kFixedSteps,
  kFixedLength,
  kNotProfiled,
  kNoSuchRank,
  kWithoutOwner,
  kNotInt8
};

// Another option that must be set, with an example of it, where this one has `value`, or any but its default.
// One of several options, comma-separated, suffices; the example is of the first.
struct Need {
  std::string_view option{}, example{}, value{};
};

struct Option {
  std::string_view name{};     // key path in a plan: "stop.t_max_s"
  std::string_view aliases{};  // other plan keys, comma-separated; the first of an axis is its singular name
  std::string_view flags{};    // command-line spellings besides --name, comma-separated
  OptionType type = OptionType::kText;
  OptionForm form = OptionForm::kSingle;
  std::string_view fallback{};  // as written in a plan, lists comma-separated; empty: unset
  std::string_view unit{};
  Range range{};
  std::span<const Choice> choices{};
  unsigned kinds = kOfGroup;
  unsigned commands = kOfGroup;
  // false: accepted, never offered, and a case that sets it is skipped as "not available yet"
  bool available = true;
  NamePart name_part{};
  // Whether it is part of what a case measures, so that cases with different values are never taken for one.
  bool identity = true;
  bool by_place = false;        // the place of a value in its list has a meaning
  bool gpu_only = false;        // values other than the default need a device that is not the CPU
  bool written = false;         // it names what is written, so that its value is no input
  std::string_view scenario{};  // the only one it is for
  Owner owner{};
  std::string_view at_most{};   // the option whose value it must not exceed
  std::string_view excludes{};  // the option that must not be written beside it
  std::array<Need, 2> needs{};  // rows without an option do not count
  std::array<Idle, 2> idle{};   // when it changes nothing
  std::string_view help{};

  [[nodiscard]] bool is_axis() const { return form == OptionForm::kAxis || form == OptionForm::kAxisMap; }
  [[nodiscard]] bool is_map() const { return form == OptionForm::kMap || form == OptionForm::kAxisMap; }
  // "all" stands for every choice.
  [[nodiscard]] bool takes_all() const { return form == OptionForm::kAxis && type == OptionType::kChoice; }
  [[nodiscard]] bool in_plan() const { return (kinds & ~kCommandLine) != 0; }
};

}  // namespace paceline::config
