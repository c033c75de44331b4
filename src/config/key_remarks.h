// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "config/raw_setting.h"

// Keys and flags of training suites that set nothing here: each is answered with one line.
namespace paceline::config {

struct KeyRemark {
  std::string_view keys;   // of a plan, comma-separated; on the command line with "--" in front
  std::string_view flags;  // other spellings on the command line, comma-separated
  unsigned kinds;          // as Option::kinds
  // Values that ask for what is done anyway, comma-separated; "*": every value. With true or false among
  // them the flag is a switch.
  std::string_view agrees;
  std::string_view why;  // the value has no effect; with `refused`: what to write instead
  bool refused = false;
};
std::span<const KeyRemark> key_remarks();

// The row of a plan key for the given kinds; nullptr when there is none.
const KeyRemark* find_key_remark(std::string_view key, unsigned kinds);
// Whether rows have keys below `section`.
bool has_key_remarks(std::string_view section, unsigned kinds);
// The row of a flag for a command ('_' equals '-'); nullptr when there is none.
const KeyRemark* find_flag_remark(std::string_view flag, unsigned command);

// An implied setting for a typed flag that has no option. It wins over the row's key in a plan.
RawSetting typed_remark(const KeyRemark& row, std::string_view flag);
bool is_remark_setting(const RawSetting& implied);

bool is_switch(const KeyRemark& row);
// "data.pin_memory: true has no effect: …"; empty where the value agrees with what is done. Without a value
// only the key is named.
std::string remark_text(const KeyRemark& row, std::string_view written, std::string_view value);

std::string key_remarks_markdown();  // a table for docs/reference/older-flags.md

}  // namespace paceline::config
