// SPDX-License-Identifier: MIT
#include "config/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/display_text.h"
#include "base/foreign_text.h"
#include "base/text.h"
#include "config/command_words.h"
#include "config/key_remarks.h"
#include "config/older_flags.h"
#include "config/option_table.h"
#include "config/plan_reader.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

constexpr std::size_t kLongestPlace = 300;  // of an argument that each of its values names

std::vector<std::string> known_flags(unsigned command) {
  std::vector<std::string> flags;
  for (const auto& group : option_groups())
    for (const auto& option : group.options) {
      if (!serves(option, command)) continue;
      for (auto& flag : flag_names(option, command)) flags.push_back(std::move(flag));
      for (const auto& alias : alias_names(option))  // those of a plan's sections, as they are typed
        if (alias.find('.') != std::string::npos) flags.push_back("--" + alias);
    }
  return flags;
}

// After a single dash only long names are suggested, because any letter is near to every other.
std::optional<std::string> nearest_flag(const std::string& flag, unsigned command) {
  if (flag.size() > 80) return std::nullopt;
  auto flags = known_flags(command);
  const bool dashes = flag.starts_with("--");
  std::erase_if(flags, [&](const auto& known) { return !dashes && known.size() == 2; });
  return nearest_name(dashes ? flag : "-" + flag, flags);
}

bool looks_like_value(std::string_view argument) {
  if (!argument.starts_with('-') || argument == "-") return true;
  return argument.size() > 1 &&
         (std::isdigit(static_cast<unsigned char>(argument[1])) != 0 || argument[1] == '.');
}

std::string undashed(std::string_view flag) {
  std::string key(flag.substr(2));
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

// Flags of other tools whose unit differs from that of the option they stand for.
struct ScaledFlag {
  std::string_view flag, option;
  double factor;
};
constexpr std::array kScaledFlags{ScaledFlag{"--warmUp", "warmup.min_time_s", 1e-3}};

const ScaledFlag* find_scaled(std::string_view flag) {
  const auto row = std::find_if(kScaledFlags.begin(), kScaledFlags.end(),
                                [&](const ScaledFlag& f) { return f.flag == flag; });
  return row == kScaledFlags.end() ? nullptr : &*row;
}

constexpr std::array<std::string_view, 10> kTruths{"true",  "True",  "TRUE",  "yes", "on",
                                                   "false", "False", "FALSE", "no",  "off"};

bool is_truth(std::string_view word) {
  return std::find(kTruths.begin(), kTruths.end(), word) != kTruths.end();
}

// "false", or "false,true" where a switch is an axis.
bool is_truth_list(std::string_view text) {
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
  const auto words = split(text, ',');
  return std::all_of(words.begin(), words.end(), [](const auto& word) { return is_truth(trim(word)); });
}

// Splits at commas; a backslash and a comma is a comma of an item, as names of inputs and files may have one.
std::vector<std::string> list_items(std::string_view text) {
  std::vector<std::string> items;
  bool open = false;
  for (const auto& part : split(text, ',')) {
    if (open)
      items.back().back() = ',', items.back() += part;
    else
      items.push_back(part);
    open = part.ends_with('\\');
  }
  return items;
}

// Guesses the key of a bare word behind --baseline; empty for other options.
std::string example_of(const Option& option, const std::string& value) {
  if (option.name != "baseline" || value.empty() || value.find('=') != value.npos) return {};
  const auto* key = find_engine(value) ? "engine" : find_precision(value) ? "precision" : "model";
  return fmt::format("; did you mean {}={}?", key, value);
}

class FlagParser {
 public:
  FlagParser(std::span<const std::string> arguments, unsigned command) : arguments_(arguments) {
    flags_.command = command;
  }

  FlagSet parse() {
    while (next_ < arguments_.size()) {
      const std::string& argument = arguments_[next_++];
      if (flags_.problems.size() == kMostMistakes) {
        report(argument, "further mistakes are not shown: from here on nothing was read");
        return std::move(flags_);
      }
      if (argument == "--")
        take_rest();
      else if (argument.size() < 2 || argument[0] != '-')
        take_word(argument);
      else
        read_flag(argument);
    }
    check_words(words_, flags_);
    return std::move(flags_);
  }

 private:
  void take_rest() {
    before_ = {};
    while (next_ < arguments_.size()) take_word(arguments_[next_++]);
  }
  // Several words in a row belong to the same option.
  void take_word(const std::string& word) {
    flags_.positionals.push_back(word);
    before_.text = word;
    words_.push_back(before_);
  }
  void report(std::string typed, std::string message) {
    flags_.problems.push_back(diagnostic({std::move(typed), 0, 0}, std::move(message)));
  }

  void read_flag(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    const std::string flag = argument.substr(0, equals);
    const bool has_value = equals != std::string::npos;
    const std::string value = has_value ? argument.substr(equals + 1) : "";
    before_ = {"", flag, value, nullptr};
    if (const Option* option = find_flag(flag, flags_.command))
      return read_option(*option, flag, has_value, value);
    if (const ScaledFlag* scaled = find_scaled(flag)) return read_scaled(*scaled, flag, has_value, value);
    if (read_shorthand(argument, flag, has_value)) return;
    if (!has_value && read_negation(flag)) return;
    if (const Option* map = map_entry(flag)) return read_value(*map, flag.substr(2), flag, has_value, value);
    report_unknown(flag, has_value, value);
  }

  // A switch without a value is true; a value such as true or false may follow it.
  [[nodiscard]] bool has_no_value(const Option& option) const {
    if (next_ >= arguments_.size()) return true;
    const std::string& next = arguments_[next_];
    return option.form == OptionForm::kSingle ? !is_truth(next) : !is_truth_list(next);
  }

  void read_option(const Option& option, const std::string& flag, bool has_value, const std::string& value) {
    before_.option = &option;
    if (option.type == OptionType::kBoolean && !has_value && has_no_value(option))
      return store(option, std::string(option.name), flag, flag, "true");
    read_value(option, std::string(option.name), flag, has_value, value);
  }

  void read_value(const Option& option, std::string name, const std::string& flag, bool has_value,
                  const std::string& value) {
    if (has_value) return store(option, std::move(name), flag, flag + "=" + value, value);
    if (next_ >= arguments_.size() || !looks_like_value(arguments_[next_]))
      return report(flag, fmt::format("needs a value, e.g. {} {}", flag,
                                      option.fallback.empty() ? "VALUE" : option.fallback));
    const std::string& next = arguments_[next_++];
    before_.value = next;
    store(option, std::move(name), flag, flag + " " + next, next);
  }

  // Text that is not a number is left to the option to refuse.
  void read_scaled(const ScaledFlag& scaled, const std::string& flag, bool has_value, std::string value) {
    const Option* option = find_flag("--" + std::string(scaled.option), flags_.command);
    if (!option) return report_unknown(flag, has_value, value);
    if (!has_value && (next_ >= arguments_.size() || !looks_like_value(arguments_[next_])))
      return report(flag, fmt::format("needs a value, e.g. {}=200", flag));
    if (!has_value) value = arguments_[next_++];
    before_.value = value;
    const auto number = parse_double(value);
    store(*option, std::string(option->name), flag, flag + "=" + value,
          number ? fmt::format("{}", *number * scaled.factor) : value);
  }

  static const Shorthand* shorthand_of(const std::string& flag, std::string_view value) {
    const Shorthand* row = find_shorthand(flag, value);
    return row ? row : find_shorthand(undashed(flag), value);
  }

  // The option of a shorthand: precisions, where the command takes one file precision.
  [[nodiscard]] const Option* option_of(const Shorthand& row) const {
    if ((flags_.command & kRunsCases) != 0) return row_of(row.option, ~0U);
    const Option* plural = row_of(row.option, kAnyKind);
    return plural ? find_flag("--" + std::string(singular(*plural)), flags_.command) : nullptr;
  }

  // "--bf16", "--channels-last", "--channels-last=false" and "--channels-last false".
  bool read_shorthand(std::string argument, const std::string& flag, bool has_value) {
    if (!flag.starts_with("--") || (flags_.command & (kRunsCases | kBuild | kExport)) == 0) return false;
    const bool word_follows = !has_value && next_ < arguments_.size() && is_truth(arguments_[next_]) &&
                              shorthand_of(flag, arguments_[next_]);
    if (word_follows) argument += "=" + arguments_[next_];
    const auto equals = argument.find('=');
    const Shorthand* row =
        shorthand_of(flag, equals == std::string::npos ? "true" : argument.substr(equals + 1));
    const Option* option = row ? option_of(*row) : nullptr;
    if (!option) return false;
    if (word_follows) ++next_;
    RawSetting setting;
    setting.name = option->name;
    setting.written = flag;
    setting.place.file = shown_value(argument, kLongestPlace);
    setting.on_command_line = true;
    setting.values.push_back({std::string(row->value), setting.place, false});
    add(std::move(setting), true);
    return true;
  }

  bool read_negation(const std::string& flag) {
    if (!flag.starts_with("--no-")) return false;
    const Option* option = find_flag("--" + flag.substr(5), flags_.command);
    if (!option || option->type != OptionType::kBoolean) return false;
    store(*option, std::string(option->name), flag, flag, "false");
    return true;
  }

  // --env.NAME, --baseline.engine
  [[nodiscard]] const Option* map_entry(const std::string& flag) const {
    if (!flag.starts_with("--")) return nullptr;
    const Option* option = find_flag(flag.substr(0, flag.find('.')), flags_.command);
    return option && option->is_map() && flag.size() > option->name.size() + 3 ? option : nullptr;
  }

  // The next word is its value, unless it may be the plan.
  std::string value_of_unknown(bool has_value) {
    const bool plan = next_ + 1 == arguments_.size() && flags_.command == kRun && words_.empty();
    if (has_value || next_ >= arguments_.size() || !looks_like_value(arguments_[next_]) || plan) return "";
    return arguments_[next_++];
  }

  // A flag of a training suite: "--pin-memory", "--pin-memory false", "--no-pin-memory", "--log-interval 10".
  bool read_remark(const std::string& flag, bool has_value, std::string value) {
    const bool negated = !has_value && flag.starts_with("--no-");
    const KeyRemark* row = find_flag_remark(negated ? "--" + flag.substr(5) : flag, flags_.command);
    if (!row || (negated && !is_switch(*row))) return false;
    if (negated)
      value = "false";
    else if (!has_value && is_switch(*row))
      value = next_ < arguments_.size() && is_truth(arguments_[next_]) ? arguments_[next_++] : "true";
    else if (!has_value)
      value = value_of_unknown(false);
    flags_.implied.push_back(typed_remark(*row, flag));
    const auto words = remark_text(*row, negated ? "--" + flag.substr(5) : flag, value);
    if (words.empty()) return true;
    if (row->refused)
      report(flag, words);
    else
      flags_.remarks.push_back(words);
    return true;
  }

  void report_unknown(const std::string& flag, bool has_value, const std::string& typed_value) {
    if (read_remark(flag, has_value, typed_value)) return;
    const std::string value = has_value ? typed_value : value_of_unknown(has_value);
    if (agrees_with_older_flag(flag, value, flags_.command)) return;
    const auto older = older_flag_message(flag, value, flags_.command);
    if (!older.empty()) return report(flag, older);
    const auto home = command_with(flag);
    if (!home.empty()) return report(flag, fmt::format("unknown option; it is one of paceline {}", home));
    const auto nearest = nearest_flag(flag, flags_.command);
    if (const Option* meant = nearest ? find_flag(*nearest, flags_.command) : nullptr)
      flags_.meant.emplace_back(meant->name);
    report(flag, "unknown option" +
                     (nearest ? fmt::format("; did you mean '{}'?", *nearest) : std::string("; see --help")));
  }

  void store(const Option& option, std::string name, const std::string& flag, const std::string& typed,
             const std::string& value) {
    if (option.is_map() && name == option.name) return store_pairs(option, flag, typed, value);
    RawSetting setting;
    setting.name = std::move(name);
    setting.written = flag;
    setting.place.file = shown_value(typed, kLongestPlace);
    setting.on_command_line = true;
    for (auto& text : texts_of(option, value))
      setting.values.push_back({std::move(text), setting.place, false});
    setting.is_list = setting.values.size() > 1;
    add(std::move(setting), option.is_axis() || option.is_map());
  }

  // --baseline engine=eager,precision=fp32 and --env NAME=VALUE
  void store_pairs(const Option& option, const std::string& flag, const std::string& typed,
                   const std::string& value) {
    const bool several = option.form == OptionForm::kMap;
    for (const auto& pair : several ? list_items(value) : std::vector{value}) {
      const std::size_t equals = pair.find('=');
      if (equals == 0 || equals == std::string::npos)
        report(typed, fmt::format("'{}' is not NAME=VALUE{}", pair, example_of(option, pair)));
      else
        store(option, fmt::format("{}.{}", option.name, trim(pair.substr(0, equals))), flag, typed,
              pair.substr(equals + 1));
    }
  }

  // "[a, b]" is always a list; "a,b" is one where the option takes lists and commas mean nothing else.
  static std::vector<std::string> texts_of(const Option& option, const std::string& value) {
    const bool takes_list = option.is_axis() || option.form == OptionForm::kList;
    const bool brackets = takes_list && value.size() >= 2 && value.front() == '[' && value.back() == ']';
    const bool commas = takes_list && !option.is_map() && option.type != OptionType::kExpression;
    if (!brackets && !commas) return {value};
    std::vector<std::string> texts;
    for (const auto& text :
         list_items(brackets ? std::string_view(value).substr(1, value.size() - 2) : value))
      texts.emplace_back(trim(text));
    return texts;
  }

  // Replaces an earlier value by a later one, with a remark where the user may have meant both.
  void replace(RawSetting& earlier, RawSetting later, bool several) {
    const auto same_text = [](const RawValue& a, const RawValue& b) { return a.text == b.text; };
    if (several && !std::ranges::equal(earlier.values, later.values, same_text))
      flags_.remarks.push_back(
          fmt::format("{} replaces {}, which came before it; for several values write one list",
                      shown_value(later.place.file), shown_value(earlier.place.file)));
    earlier = std::move(later);
  }

  // Lists grow; of anything else the last one counts. A command that makes one file is not asked for two.
  void add(RawSetting setting, bool several) {
    const auto same = std::find_if(flags_.settings.begin(), flags_.settings.end(),
                                   [&](const RawSetting& s) { return s.name == setting.name; });
    if (same == flags_.settings.end()) return flags_.settings.push_back(std::move(setting));
    const Option* option = row_of(setting.name, ~0U);
    const bool two_switches =
        (flags_.command & kRunsCases) == 0 && several && same->written != setting.written;
    if (two_switches)
      return report(setting.place.file,
                    fmt::format("'{}' was given before ({}); keep one", setting.name, same->place.file));
    if (option && option->form == OptionForm::kList)
      same->values.insert(same->values.end(), setting.values.begin(), setting.values.end());
    else
      replace(*same, std::move(setting), several);
  }

  std::span<const std::string> arguments_;
  std::size_t next_ = 0;
  LooseWord before_;  // the last option read, for messages about the next word
  std::vector<LooseWord> words_;
  FlagSet flags_;
};

}  // namespace

FlagSet parse_flags(std::span<const std::string> arguments, unsigned command) {
  return FlagParser(arguments, command).parse();
}

}  // namespace paceline::config
