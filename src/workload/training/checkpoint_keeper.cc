// SPDX-License-Identifier: MIT
#include "workload/training/checkpoint_keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>
#include <string>

#include "base/ask_until.h"
#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "cluster/roll_call.h"
#include "stats/quantile.h"

namespace paceline::workload {
namespace {

constexpr Pauses kPauses{std::chrono::milliseconds(20), std::chrono::milliseconds(200)};

// True when the lock is ours, or when there are no locks here.
bool taken(int file) {
  return ::flock(file, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR);
}

// Writes who holds the lock, for the message to others.
void sign(int file) {
  const auto words = fmt::format("process {} on {}\n", ::getpid(), cluster::host_name());
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, words.data(), words.size(), 0) < 0) return;
}

std::string holder(const std::filesystem::path& lock) {
  const auto line = file_tail(lock, 200);
  const auto words = trim(line);
  return words.empty() ? "a process that does not say its name" : std::string(words);
}

// Settings that must be equal for training to continue: not its length, how often it is saved, nor the number
// of ranks or threads.
CheckpointOwner owner_of(const pass::PassSpec& spec) {
  const auto& train = std::get<pass::TrainSpec>(spec.task);
  const auto& s = train.settings;
  const auto& data = train.data;
  const auto same =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", spec.model.name, s.precision, s.optimizer.name,
                  s.accumulation_steps, s.seed, s.dropout, data.source, data.path, data.shuffle);
  return {spec.model.name, sha256_hex(same).substr(0, 16), spec.world_size};
}

pass::CheckpointSpec folder_of_repetition(const pass::PassSpec& spec) {
  auto checkpoint = std::get<pass::TrainSpec>(spec.task).checkpoint;
  if (!checkpoint.dir.empty() && spec.repetition > 0)
    checkpoint.dir += fmt::format("/repetition{}", spec.repetition + 1);
  return checkpoint;
}

template <class Get>
Number median_of(const std::vector<CheckpointCost>& written, Get get) {
  std::vector<double> values;
  for (const auto& cost : written) values.push_back(get(cost));
  return values.empty() ? Number::missing("no checkpoint was written") : Number(stats::median(values));
}

}  // namespace

CheckpointLock::CheckpointLock(const std::filesystem::path& dir, double patience_s) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  const auto lock = dir / ".lock";
  check_own_name(lock);
  file_ = FileDescriptor(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file_)
    throw Error(ErrorCode::kIo,
                fmt::format("checkpoint.dir '{}' is no folder that can be written: {}; name another",
                            dir.string(), error ? error.message() : std::strerror(errno)));
  if (!ask_until(deadline_in(patience_s), kPauses, [&] { return taken(file_.get()); }))
    throw Error(ErrorCode::kConfig, fmt::format("another run writes its checkpoints into '{}' ({}); wait for "
                                                "its end, or name another checkpoint.dir",
                                                dir.string(), holder(lock)));
  sign(file_.get());
}

CheckpointKeeper::CheckpointKeeper(const pass::PassSpec& spec, const KeeperParts& parts)
    : spec_(folder_of_repetition(spec)),
      schedule_(std::get<pass::TrainSpec>(spec.task).schedule),
      owner_(owner_of(spec)),
      rank_(static_cast<int>(spec.rank)),
      parts_(parts),
      all_(parts.store, rank_, static_cast<int>(spec.world_size), spec_.timeout_s, "checkpoint.timeout_s") {}

std::int64_t CheckpointKeeper::open() {
  if (!enabled()) return 0;
  if (leads()) lock_.emplace(spec_.dir);
  std::int64_t step = 0;
  if (spec_.resume)
    step = resume();
  else
    refuse_another_run();
  writer_.emplace(spec_, owner_, rank_, spec_.timeout_s);
  if (leads() && writes_weights(parts_.trainer.info())) weights_.emplace(spec_.dir, owner_.plan_hash, step);
  all_.wait("reading a checkpoint");  // rank 0 tidies up before any rank writes
  return step;
}

// A restart continues from the furthest checkpoint, which must belong to this run.
void CheckpointKeeper::refuse_another_run() const {
  if (!leads()) return;
  if (const auto search = newest_good(spec_.dir, owner_, true); search.found)
    throw Error(ErrorCode::kConfig,
                fmt::format("checkpoint.dir '{}' contains step {} of this training already; go on from it "
                            "with --checkpoint.resume, or name an empty folder",
                            spec_.dir, search.found->state.step));
}

// Restores the newest good checkpoint and returns its step; -1 where there is none.
std::int64_t CheckpointKeeper::choose_step() {
  const auto search = newest_good(spec_.dir, owner_, true, [this](const Checkpoint& checkpoint) {
    figures_.read_ns = restore(parts_.trainer, checkpoint, rank_).read_ns;
  });
  for (const auto& refused : search.refused)
    parts_.sink.emit(pass::notice_record("checkpoint refused: " + refused));
  if (search.found) return search.found->state.step;
  if (!search.refused.empty())
    throw Error(ErrorCode::kConfig, fmt::format("no checkpoint in '{}' can be continued: {}; name another "
                                                "checkpoint.dir, or leave checkpoint.resume out",
                                                spec_.dir, search.refused.front()));
  remark_ =
      fmt::format("checkpoint.resume found no checkpoint in '{}', so training began at step 0", spec_.dir);
  parts_.sink.emit(pass::notice_record(remark_));
  return -1;
}

// Rank 0 chooses, so that all ranks take the same checkpoint.
std::int64_t CheckpointKeeper::resume() {
  std::int64_t step = leads() ? choose_step() : -1;
  all_.wait("choosing a checkpoint");
  if (parts_.group) parts_.group->broadcast(std::as_writable_bytes(std::span(&step, 1)), 0);
  if (step < 0) return 0;
  const auto checkpoint = read_checkpoint(spec_.dir, step);
  if (!leads()) figures_.read_ns = restore(parts_.trainer, checkpoint, rank_).read_ns;
  figures_.resumed_step = step;
  parts_.loader.seek(checkpoint.state.data);  // exact, unless the number of samples per step has changed
  if (leads()) report_resumed(checkpoint);
  return step;
}

void CheckpointKeeper::report_resumed(const Checkpoint& checkpoint) {
  parts_.sink.emit(
      pass::notice_record(fmt::format("training goes on after step {}, from a checkpoint of {} ranks",
                                      checkpoint.state.step, checkpoint.owner.world)));
  if (checkpoint.state.schedule != schedule_)
    parts_.sink.emit(pass::notice_record("the learning rate follows another schedule than the checkpoint's"));
}

void CheckpointKeeper::save_when_due(std::int64_t step) {
  if (writer_ && spec_.every_steps > 0 && step > 0 && step % spec_.every_steps == 0) save(step);
}

void CheckpointKeeper::save(std::int64_t step) {
  if (!writer_ || saved_step_ == step) return;
  saved_step_ = step;
  parts_.sink.phase("checkpoint");
  write(step);
  all_.wait(fmt::format("writing the checkpoint of step {}", step));
  parts_.sink.phase("measure");
}

void CheckpointKeeper::write(std::int64_t step) {
  if (parts_.while_saving) parts_.while_saving(step);
  try {
    const auto cost = writer_->save(parts_.trainer, {step, parts_.loader.position(), schedule_},
                                    [this] { parts_.sink.phase("checkpoint_wait"); });
    if (cost) written_.push_back(*cost);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kInternal) throw;
    throw Error(e.code(),
                fmt::format("no checkpoint after step {} on rank {}: {}", step - 1, rank_, e.what()));
  }
}

void CheckpointKeeper::keep_best(const result::HeldOutFigures* seen, std::int64_t step) {
  if (!writer_) return;
  parts_.sink.phase("checkpoint");
  if (weights_ && seen) weights_->offer(parts_.trainer, *seen, step);
  parts_.sink.phase("checkpoint_wait");
  all_.wait(fmt::format("writing the weights of step {}", step));
  parts_.sink.phase("measure");
}

void CheckpointKeeper::close(std::int64_t step) {
  if (!writer_) return;
  save(step);
  if (const auto cost = writer_->finish()) written_.push_back(*cost);
  if (weights_) {
    parts_.sink.phase("checkpoint");
    weights_->write_last(parts_.trainer);
  }
  all_.wait("writing the last checkpoint");
}

result::CheckpointFigures CheckpointKeeper::figures() const {
  auto figures = figures_;
  figures.written = static_cast<std::int64_t>(written_.size());
  figures.write_ns = median_of(written_, [](const auto& c) { return c.write_ns; });
  figures.blocked_ns = median_of(written_, [](const auto& c) { return c.stalled_ns; });
  const auto mine = fmt::format("{}", written_.empty() ? 0 : written_.back().bytes);
  const auto all = parts_.group ? parts_.group->gather(mine) : std::vector{mine};
  std::int64_t bytes = 0;
  for (const auto& text : all) bytes += parse_int(text).value_or(0);
  if (bytes > 0) figures.bytes = bytes;
  return figures;
}

}  // namespace paceline::workload
