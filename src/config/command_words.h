// SPDX-License-Identifier: MIT
// Checks words of a command line that no option takes: how many are allowed, and what to type instead.
#pragma once
#include <string>
#include <vector>

#include "config/flag_set.h"
#include "config/option_table.h"

namespace paceline::config {

// A word of a command line that no option has taken, and the option that stands before it.
struct LooseWord {
  std::string text;
  std::string flag;                // as typed; empty: the word follows no option
  std::string value;               // what the option took before the word; empty: nothing
  const Option* option = nullptr;  // of that flag; nullptr: a switch that sets another option
};

// Adds a problem for each word that the command does not accept, saying what to type instead.
void check_words(const std::vector<LooseWord>& words, FlagSet& flags);

}  // namespace paceline::config
