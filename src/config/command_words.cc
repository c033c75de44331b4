// SPDX-License-Identifier: MIT
#include "config/command_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/display_text.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

// The option that names a plan besides the words.
const RawSetting* named_plan(const FlagSet& flags) {
  const auto found = std::find_if(flags.settings.begin(), flags.settings.end(),
                                  [](const auto& s) { return s.name == "config" || s.name == "resume"; });
  return found == flags.settings.end() ? nullptr : &*found;
}

bool is_plan(std::string_view word) {
  return word.ends_with(".yaml") || word.ends_with(".yml");
}

bool is_model(std::string_view word) {
  return find_model(word) || find_file_type(word);
}

bool takes_list(const Option& option) {
  return option.is_axis() || option.form == OptionForm::kList;
}

// Where a word after an option was meant to go.
std::string after_option(const LooseWord& word) {
  if (word.option && takes_list(*word.option) && !word.value.empty())
    return fmt::format("a list is written with commas: {} {},{}", word.flag, shown_value(word.value),
                       shown_value(word.text));
  if (word.option && word.option->type == OptionType::kBoolean && word.value.empty())
    return fmt::format("{} is a switch: write {} true or {} false", word.flag, word.flag, word.flag);
  if (word.value.empty()) return fmt::format("{} takes no value", word.flag);
  return "";
}

std::string advice(const LooseWord& word, const CommandRow& command) {
  if (is_plan(word.text) && command.most_words == 0)
    return fmt::format("a plan is run with: paceline run {}", shown_value(word.text));
  if (word.option && takes_list(*word.option) && !word.value.empty()) return after_option(word);
  const bool has_model = find_flag("--model", command.bits) != nullptr;
  if (is_model(word.text) && has_model) return fmt::format("write --model {}", shown_value(word.text));
  if (!word.flag.empty())
    if (auto text = after_option(word); !text.empty()) return text;
  return fmt::format("this command takes {}; see paceline {} --help",
                     command.most_words == 0 ? "options only" : "one plan", command.name);
}

void report(FlagSet& flags, const LooseWord& word, std::string message) {
  flags.problems.push_back(diagnostic({shown_value(word.text), 0, 0}, std::move(message)));
}

// Without the "run" of "benchmark run --config PLAN.yaml", which says once more what the command does.
std::vector<LooseWord> without_action(std::vector<LooseWord> words, FlagSet& flags) {
  const bool again = flags.command == kRun && !words.empty() && words.front().text == "run" &&
                     (words.size() > 1 || named_plan(flags));
  if (!again) return words;
  words.erase(words.begin());
  flags.positionals.erase(flags.positionals.begin());
  return words;
}

}  // namespace

void check_words(const std::vector<LooseWord>& all, FlagSet& flags) {
  const CommandRow* command = find_command_row(flags.command);
  const auto words = without_action(all, flags);
  if (!command || words.size() <= command->most_words) {
    const RawSetting* plan =
        command && command->most_words == 1 && !words.empty() ? named_plan(flags) : nullptr;
    if (plan)
      report(flags, words.front(),
             fmt::format("a second plan beside {}; leave one of them out", plan->place.file));
    return;
  }
  // Where one plan is accepted, it is the first word that looks like a plan, else the first word.
  const auto plan = std::find_if(words.begin(), words.end(), [](const auto& w) { return is_plan(w.text); });
  const auto taken = command->most_words == 0 ? words.end() : plan == words.end() ? words.begin() : plan;
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (word == taken) continue;
    const bool second = taken != words.end() && is_plan(word->text);
    if (is_model(word->text)) flags.meant.emplace_back("models");
    report(flags, *word,
           second
               ? fmt::format("a second plan beside '{}'; run one after the other", shown_value(taken->text))
               : "unexpected argument; " + advice(*word, *command));
  }
}

}  // namespace paceline::config
