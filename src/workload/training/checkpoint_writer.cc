// SPDX-License-Identifier: MIT
#include "workload/training/checkpoint_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <initializer_list>
#include <thread>
#include <utility>
#include <vector>

#include "base/archive.h"
#include "base/bounded_json.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/handle.h"
#include "base/reading.h"
#include "base/sha256.h"
#include "workload/training/checkpoint_fields.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

std::string note_name(std::int64_t rank) {
  return fmt::format("rank{}.json", rank);
}

std::string unfinished_name(std::int64_t rank) {
  return part_name(rank) + ".part";
}

double ns_since(std::int64_t begin) {
  return static_cast<double>(SteadyClock{}.now_ns() - begin);
}

[[noreturn]] void fail(std::string_view what, const fs::path& path, int why) {
  throw Error(ErrorCode::kIo,
              fmt::format("checkpoint: cannot {} '{}': {}", what, path.string(), std::strerror(why)));
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail("create the folder", folder, error.value());
}

void sync(const fs::path& path, int flags) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  if (!file || (::fsync(file.get()) != 0 && errno != EINVAL)) fail("write", path, errno);
}

void remove_if_there(const fs::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail("remove", path, errno);
}

void rename_to(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail("write", to, errno);
}

// Removes our files with these endings, and the folder if it is empty then.
void remove_files(const fs::path& folder, std::initializer_list<std::string_view> endings) {
  std::error_code ignored;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool ends_so = std::any_of(endings.begin(), endings.end(),
                                     [&](std::string_view ending) { return name.ends_with(ending); });
    if (name.starts_with("rank") && ends_so) files.push_back(entry.path());
  }
  for (const auto& file : files) fs::remove(file, ignored);
  ::rmdir(folder.c_str());
}

// Removes what a process that died while writing left behind.
void remove_unfinished(const fs::path& dir) {
  for (const std::int64_t step : list_checkpoints(dir)) {
    const fs::path folder = checkpoint_folder(dir, step);
    std::error_code ignored;
    if (fs::exists(folder / "meta.json", ignored))
      remove_files(folder, {".json", ".part"});
    else
      remove_files(folder, {".json", ".part", ".ckpt"});
  }
}

// Removes meta.json first: without it this is no checkpoint any more, whatever happens then.
void remove_checkpoint(const fs::path& folder) {
  remove_if_there(folder / "meta.json");
  remove_files(folder, {".json", ".part", ".ckpt"});
}

bool same_owner(const fs::path& dir, std::int64_t step, const CheckpointOwner& owner) {
  try {
    const CheckpointOwner has = read_checkpoint(dir, step).owner;
    return has.model == owner.model && has.plan_hash == owner.plan_hash;
  } catch (const Error&) {
    return false;  // unreadable, so its owner is unknown
  }
}

}  // namespace

CheckpointWriter::CheckpointWriter(const pass::CheckpointSpec& spec, CheckpointOwner owner, int rank,
                                   double peers_timeout_s)
    : spec_(spec), dir_(spec.dir), owner_(std::move(owner)), rank_(rank), peers_timeout_s_(peers_timeout_s) {
  if (rank_ != 0) return;
  make_folder(dir_);
  if (!fs::is_directory(dir_) || ::access(dir_.c_str(), W_OK) != 0)
    throw Error(ErrorCode::kIo,
                fmt::format("checkpoint.dir '{}' is no folder that can be written: {}; name another",
                            dir_.string(), std::strerror(errno)));
  remove_unfinished(dir_);
}

CheckpointWriter::~CheckpointWriter() {
  abandoned_ = true;
}

std::optional<CheckpointCost> CheckpointWriter::save(plugin::Trainer& trainer, const TrainingState& state,
                                                     const std::function<void()>& own_part_done) {
  const std::int64_t begin = SteadyClock{}.now_ns();
  auto before = finish();
  CheckpointCost cost;
  cost.step = state.step;
  take_copy(trainer, state.step, cost);
  cost.stalled_ns = ns_since(begin);
  if (spec_.asynchronous) {
    in_flight_ = std::async(std::launch::async, [=, this] { return complete(state, cost, begin, {}); });
    if (own_part_done) own_part_done();
    return before;
  }
  cost = complete(state, cost, begin, own_part_done);
  cost.stalled_ns = cost.total_ns;
  return cost;
}

std::optional<CheckpointCost> CheckpointWriter::finish() {
  if (!in_flight_.valid()) return std::nullopt;
  return in_flight_.get();
}

void CheckpointWriter::take_copy(plugin::Trainer& trainer, std::int64_t step, CheckpointCost& cost) const {
  const fs::path folder = checkpoint_folder(dir_, step);
  const std::int64_t begin = SteadyClock{}.now_ns();
  make_folder(folder);
  remove_if_there(folder / "meta.json");  // of an earlier checkpoint that was refused
  try {
    trainer.save((folder / unfinished_name(rank_)).string(), rank_ == 0);
  } catch (...) {
    discard_part(step);
    throw;
  }
  cost.write_ns = ns_since(begin);
}

CheckpointCost CheckpointWriter::complete(const TrainingState& state, CheckpointCost cost,
                                          std::int64_t begin_ns,
                                          const std::function<void()>& own_part_done) const {
  try {
    CheckpointPart part = flush_part(state.step, cost);
    replace_file(checkpoint_folder(dir_, state.step) / note_name(rank_), archive::Writer::write(part).dump());
    if (own_part_done) own_part_done();
    if (rank_ == 0) commit(state);
  } catch (...) {
    discard_part(state.step);
    throw;
  }
  cost.total_ns = ns_since(begin_ns);
  return cost;
}

CheckpointPart CheckpointWriter::flush_part(std::int64_t step, CheckpointCost& cost) const {
  const fs::path folder = checkpoint_folder(dir_, step);
  const fs::path unfinished = folder / unfinished_name(rank_);
  const std::int64_t begin = SteadyClock{}.now_ns();
  sync(unfinished, 0);
  cost.write_ns += ns_since(begin);
  cost.bytes = static_cast<std::int64_t>(fs::file_size(unfinished));
  const std::int64_t digest_begin = SteadyClock{}.now_ns();
  CheckpointPart part{part_name(rank_), cost.bytes, sha256_file(unfinished)};
  cost.digest_ns = ns_since(digest_begin);
  rename_to(unfinished, folder / part.file);
  sync(folder, O_DIRECTORY);
  return part;
}

void CheckpointWriter::commit(const TrainingState& state) const {
  Checkpoint checkpoint;
  checkpoint.folder = checkpoint_folder(dir_, state.step);
  checkpoint.owner = owner_;
  checkpoint.state = state;
  for (std::int64_t rank = 0; rank < owner_.world; ++rank)
    checkpoint.parts.push_back(wait_for_note(state.step, rank));
  replace_file(checkpoint.folder / "meta.json", checkpoint_meta(checkpoint));
  try {
    sync(dir_, O_DIRECTORY);
    remove_files(checkpoint.folder, {".json"});
    keep_newest(state.step);
  } catch (const std::exception&) {  // the checkpoint is complete; the next one removes the rest
  }
}

CheckpointPart CheckpointWriter::wait_for_note(std::int64_t step, std::int64_t rank) const {
  const fs::path note = checkpoint_folder(dir_, step) / note_name(rank);
  const std::int64_t begin = SteadyClock{}.now_ns();
  std::error_code ignored;
  while (!fs::exists(note, ignored)) {
    if (abandoned_) throw Error(ErrorCode::kIo, fmt::format("checkpoint of step {} given up", step));
    if (ns_since(begin) > peers_timeout_s_ * 1e9)
      throw Error(ErrorCode::kTimeout, fmt::format("checkpoint of step {}: rank {} has not written its part "
                                                   "within {} s; do all ranks see the folder '{}'?",
                                                   step, rank, peers_timeout_s_, dir_.string()));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CheckpointPart part;
  const auto json = json_or_discarded(read_stored(note, Foreign::kCheckpoint));
  const auto name = note.string();
  archive::Reader reader(json, name.c_str());
  fields(reader, part);
  return part;
}

void CheckpointWriter::discard_part(std::int64_t step) const {
  const fs::path folder = checkpoint_folder(dir_, step);
  std::error_code ignored;
  for (const auto& name : {unfinished_name(rank_), part_name(rank_), note_name(rank_)})
    fs::remove(folder / name, ignored);
  ::rmdir(folder.c_str());
}

// Checkpoints ahead of this one belong to another training or were refused: they are neither counted nor
// removed.
void CheckpointWriter::keep_newest(std::int64_t newest) const {
  std::int64_t kept = 0;
  const std::int64_t keep = std::max<std::int64_t>(spec_.keep, 1);
  for (const std::int64_t step : list_checkpoints(dir_))
    if (step <= newest && same_owner(dir_, step, owner_) && ++kept > keep)
      remove_checkpoint(checkpoint_folder(dir_, step));
}

}  // namespace paceline::workload
