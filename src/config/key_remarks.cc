// SPDX-License-Identifier: MIT
#include "config/key_remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "config/option_table.h"

namespace paceline::config {
namespace {

constexpr bool kNotUsable = true;
constexpr std::string_view kFromLauncher = "it is read from the launcher, or from RANK and LOCAL_RANK";
constexpr std::string_view kMeetingPlace = "write --rdzv-endpoint HOST:PORT on the command line";

constexpr std::array kRemarks{
    KeyRemark{"data.pin_memory", "--pin-memory", kTraining, "true",
              "a GPU always gets its batches through pinned memory"},
    KeyRemark{"data.persistent_workers", "--persistent-workers", kTraining, "true",
              "workers are threads that live as long as the run"},
    KeyRemark{"data.drop_last", "--drop-last", kTraining, "true",
              "samples that fill no step of all ranks are always left out of an epoch"},
    KeyRemark{"model.pretrained", "", kTraining, "false",
              "write weights: FILE.safetensors, or --weights FILE.safetensors", kNotUsable},
    KeyRemark{"training.compile,training.compile.enabled", "--compile", kTraining, "false",
              "torch.compile is not available, and the model is trained without it"},
    KeyRemark{"training.compile.mode", "", kTraining, "*", "it is read with training.compile.enabled"},
    KeyRemark{"training.log_interval,benchmark.log_interval,run.log_interval", "--log-interval",
              kTraining | kPlanLevel, "", "progress is shown by time, and every step is in samples.csv"},
    KeyRemark{"benchmark.enabled", "", kTraining, "true", "every run is measured"},
    KeyRemark{"distributed.local_rank", "", kTraining, "", kFromLauncher},
    KeyRemark{"distributed.rank", "", kTraining, "", kFromLauncher},
    KeyRemark{"distributed.node_rank", "", kTraining, "", "write --node-rank N on the command line",
              kNotUsable},
    KeyRemark{"distributed.init_method", "", kTraining, "env://", kMeetingPlace, kNotUsable},
    KeyRemark{"distributed.master_addr,distributed.master_port", "", kTraining, "", kMeetingPlace,
              kNotUsable},
    KeyRemark{"run.run_id", "", kPlanLevel, "", "every run gets a new id"},
    KeyRemark{"run.capture_env", "", kPlanLevel, "true", "the environment is always recorded"},
    KeyRemark{"run.commit_hash", "", kPlanLevel, "auto", "the commit is read from git"},
};

bool has_name(std::string_view names, std::string_view name) {
  const auto all = split(names, ',');
  return !name.empty() && std::ranges::find(all, name) != all.end();
}

std::string with_dashes(std::string_view text) {
  std::string out(text);
  std::ranges::replace(out, '_', '-');
  return out;
}

bool serves_remark(const KeyRemark& row, unsigned command) {
  const unsigned commands = (row.kinds & kPlanLevel) != 0 ? kRunsCases : kTrain | kRun;
  return (commands & command) != 0;
}

// The keys and flags of a row, as they are written.
std::vector<std::string> remark_spellings(const KeyRemark& row) {
  std::vector<std::string> all;
  for (const auto names : {row.keys, row.flags})
    if (!names.empty())
      for (auto& name : split(names, ',')) all.push_back("`" + name + "`");
  return all;
}

}  // namespace

std::span<const KeyRemark> key_remarks() {
  return kRemarks;
}

const KeyRemark* find_key_remark(std::string_view key, unsigned kinds) {
  const auto* row = std::ranges::find_if(
      kRemarks, [&](const KeyRemark& r) { return (r.kinds & kinds) != 0 && has_name(r.keys, key); });
  return row == kRemarks.end() ? nullptr : row;
}

bool has_key_remarks(std::string_view section, unsigned kinds) {
  const std::string prefix = std::string(section) + ".";
  return std::ranges::any_of(kRemarks, [&](const KeyRemark& row) {
    const auto keys = split(row.keys, ',');
    return (row.kinds & kinds) != 0 &&
           std::ranges::any_of(keys, [&](const auto& key) { return key.starts_with(prefix); });
  });
}

const KeyRemark* find_flag_remark(std::string_view flag, unsigned command) {
  if (!flag.starts_with("--")) return nullptr;
  const std::string typed = with_dashes(flag);
  const auto* row = std::ranges::find_if(kRemarks, [&](const KeyRemark& r) {
    return serves_remark(r, command) &&
           (has_name(with_dashes(r.flags), typed) || has_name(with_dashes(r.keys), typed.substr(2)));
  });
  return row == kRemarks.end() ? nullptr : row;
}

RawSetting typed_remark(const KeyRemark& row, std::string_view flag) {
  RawSetting typed;
  typed.name = row.keys;
  typed.written = flag;
  typed.on_command_line = true;
  return typed;
}

bool is_remark_setting(const RawSetting& implied) {
  return std::ranges::any_of(kRemarks, [&](const KeyRemark& row) { return row.keys == implied.name; });
}

bool is_switch(const KeyRemark& row) {
  return has_name(row.agrees, "true") || has_name(row.agrees, "false");
}

std::string remark_text(const KeyRemark& row, std::string_view written, std::string_view value) {
  std::string lower(value);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (row.agrees == "*" || has_name(row.agrees, lower)) return "";
  const auto what = value.empty() ? std::string(written) : fmt::format("{} '{}'", written, value);
  return fmt::format("{} {}: {}", what, row.refused ? "cannot be used" : "has no effect", row.why);
}

std::string key_remarks_markdown() {
  std::string text =
      "\n## Keys of training suites that set nothing\n\nA plan with them runs. A line says that the value "
      "has no effect, unless it asks for what is done anyway. *Refused*: the plan does not run.\n\n"
      "| key or flag | taken in silence | otherwise |\n|---|---|---|\n";
  for (const auto& row : kRemarks)
    text += fmt::format("| {} | {} | {}{} |\n", join(remark_spellings(row), ", "),
                        row.agrees == "*" ? "every value" : row.agrees, row.refused ? "*refused*: " : "",
                        row.why);
  return text;
}

}  // namespace paceline::config
