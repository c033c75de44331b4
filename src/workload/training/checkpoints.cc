// SPDX-License-Identifier: MIT
#include "workload/training/checkpoints.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/archive.h"
#include "base/bounded_json.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/foreign_text.h"
#include "base/json.h"
#include "base/reading.h"
#include "base/sha256.h"
#include "base/text.h"
#include "workload/training/checkpoint_fields.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kFolderPrefix = "step_";
constexpr std::int64_t kMostEpochs = 1'000'000'000;
constexpr std::int64_t kMostSamples = 1'000'000'000'000;  // of one epoch

[[noreturn]] void bad(const std::string& what) {
  throw Error(ErrorCode::kData, what);
}

void check_plausible(const Checkpoint& checkpoint, const std::string& schema, std::int64_t step) {
  if (schema.empty() || split(schema, '.')[0] != split(kCheckpointSchema, '.')[0])
    bad(fmt::format("meta.json has schema_version '{}', this version reads {}", schema, kCheckpointSchema));
  if (checkpoint.state.step != step) bad(fmt::format("meta.json is of step {}", checkpoint.state.step));
  const auto& at = checkpoint.state.data;
  if (at.epoch < 0 || at.epoch > kMostEpochs || at.samples < 0 || at.samples > kMostSamples)
    bad(fmt::format("meta.json says sample {} of epoch {}", at.samples, at.epoch));
  if (checkpoint.parts.empty() || std::ssize(checkpoint.parts) != checkpoint.owner.world)
    bad(fmt::format("meta.json names {} files for {} ranks", checkpoint.parts.size(),
                    checkpoint.owner.world));
}

void check_owner(const CheckpointOwner& has, const CheckpointOwner& wants, bool any_world) {
  if (has.model != wants.model)
    bad(fmt::format("it is of the model '{}', this training is of '{}'", has.model, wants.model));
  if (has.plan_hash != wants.plan_hash)
    bad(fmt::format("it is of another plan ({}, this one is {})", has.plan_hash, wants.plan_hash));
  if (has.world != wants.world && !any_world)
    bad(fmt::format("it is of {} ranks, this training has {}", has.world, wants.world));
}

}  // namespace

fs::path checkpoint_folder(const fs::path& dir, std::int64_t step) {
  return dir / fmt::format("{}{}", kFolderPrefix, step);
}

std::string part_name(std::int64_t rank) {
  return fmt::format("rank{}.ckpt", rank);
}

std::vector<std::int64_t> list_checkpoints(const fs::path& dir) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    const std::string name = entry.path().filename().string();
    const auto step =
        name.starts_with(kFolderPrefix) ? parse_int(name.substr(kFolderPrefix.size())) : std::nullopt;
    if (step && *step >= 0 && name == checkpoint_folder({}, *step)) steps.push_back(*step);
  }
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

std::string checkpoint_meta(const Checkpoint& checkpoint) {
  nlohmann::json json = archive::Writer::write(checkpoint);
  json["schema_version"] = kCheckpointSchema;
  return json.dump(2) + "\n";
}

Checkpoint read_checkpoint(const fs::path& dir, std::int64_t step) {
  const fs::path folder = checkpoint_folder(dir, step);
  std::error_code ignored;
  if (!fs::exists(folder / "meta.json", ignored)) bad("it is unfinished: there is no meta.json");
  const auto json = json_or_discarded(read_stored(folder / "meta.json", Foreign::kCheckpoint));
  if (!json.is_object()) bad("meta.json is damaged");
  Checkpoint checkpoint;
  checkpoint.folder = folder;
  std::string schema;
  archive::Reader reader(json, "");
  reader("schema_version", schema);
  fields(reader, checkpoint);
  check_plausible(checkpoint, schema, step);
  return checkpoint;
}

void verify_parts(const Checkpoint& checkpoint) {
  for (const auto& part : checkpoint.parts) {
    const fs::path file = checkpoint.folder / part.file;
    std::error_code error;
    const auto bytes = fs::file_size(file, error);
    if (error) bad(fmt::format("{}: {}", part.file, error.message()));
    if (static_cast<std::int64_t>(bytes) != part.bytes)
      bad(fmt::format("{} has {} bytes instead of {}", part.file, bytes, part.bytes));
    if (sha256_file(file) != part.sha256) bad(fmt::format("{} is damaged: another SHA-256", part.file));
  }
}

CheckpointSearch newest_good(const fs::path& dir, const CheckpointOwner& owner, bool any_world,
                             const std::function<void(const Checkpoint&)>& take) {
  CheckpointSearch search;
  for (const std::int64_t step : list_checkpoints(dir)) {
    try {
      Checkpoint checkpoint = read_checkpoint(dir, step);
      check_owner(checkpoint.owner, owner, any_world);
      verify_parts(checkpoint);
      if (take) take(checkpoint);
      search.found = std::move(checkpoint);
      break;
    } catch (const Error& error) {
      search.refused.push_back(fmt::format("'{}': {}", checkpoint_folder(dir, step).string(), error.what()));
    }
  }
  return search;
}

RestoreCost restore(plugin::Trainer& trainer, const Checkpoint& checkpoint, int rank) {
  const auto& shared = checkpoint.parts.front();
  const auto& own = checkpoint.parts[static_cast<std::size_t>(rank) % checkpoint.parts.size()];
  const std::int64_t begin = SteadyClock{}.now_ns();
  trainer.restore((checkpoint.folder / shared.file).string(), (checkpoint.folder / own.file).string());
  RestoreCost cost;
  cost.read_ns = static_cast<double>(SteadyClock{}.now_ns() - begin);
  cost.bytes = shared.bytes + (own.file == shared.file ? 0 : own.bytes);
  return cost;
}

}  // namespace paceline::workload
