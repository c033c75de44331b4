// SPDX-License-Identifier: MIT
// Jobs of several ranks that train and exchange in turns, as step files.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/traces/attached_study.h"
#include "analysis/traces/trace_study.h"
#include "attach/step_file.h"
#include "base/scratch_folder.h"
#include "support/made_step_file.h"

namespace paceline::testing {

class MadeAttachedJob {
 public:
  explicit MadeAttachedJob(std::size_t ranks) : now_(ranks, MadeStepFile::kStart_ns) {
    for (std::size_t r = 0; r < ranks; ++r)
      files.emplace_back(static_cast<std::int64_t>(r), static_cast<std::int64_t>(ranks));
  }
  [[nodiscard]] std::size_t world() const { return files.size(); }
  [[nodiscard]] std::int64_t now(std::size_t rank) const { return now_[rank]; }

  // Adds the next thing that one rank does.
  void load(std::size_t rank, double ms) { scope(rank, ms, kLoader); }
  void forward(std::size_t rank, double ms) { scope(rank, ms, "DistributedDataParallel.forward"); }
  void scope(std::size_t rank, double ms, const std::string& name) {
    const auto begin = now_[rank];
    files[rank].scope(name, begin, idle(rank, ms));
  }
  void backward(std::size_t rank, double ms) {
    const auto begin = now_[rank];
    files[rank].backward(begin, idle(rank, ms));
  }
  void optimize(std::size_t rank, double ms, std::uint16_t optimizer = 0) {
    scope(rank, ms, "Optimizer.step#SGD.step");
    files[rank].stepped(now_[rank], optimizer);
  }
  std::int64_t idle(std::size_t rank, double ms) { return now_[rank] += std::llround(ms * 1e6); }

  // An exchange that ends on all ranks together, `ms` after the last one came.
  void together(double ms, const std::string& name = "gloo:all_reduce") {
    const auto end = *std::ranges::max_element(now_) + std::llround(ms * 1e6);
    for (std::size_t r = 0; r < world(); ++r) {
      files[r].exchange(name, now_[r], end);
      now_[r] = end;
    }
  }
  // A step of DDP: `ms(rank, part)`; parts: 0 loader, 1 forward, 2 backward, 3 optimizer.
  template <typename Ms>
  void step(Ms ms) {
    for (std::size_t r = 0; r < world(); ++r) load(r, ms(r, 0)), forward(r, ms(r, 1)), backward(r, ms(r, 2));
    together(2);
    for (std::size_t r = 0; r < world(); ++r) optimize(r, ms(r, 3));
  }
  void plain_step() {
    step([](std::size_t, int part) { return kUsual_ms[part]; });
  }
  void plain_steps(int count) {
    for (int i = 0; i < count; ++i) plain_step();
  }

  [[nodiscard]] std::vector<analysis::traces::RankTrace> ranks() const {
    const auto folder = ScratchFolder::below_temp("attached");
    std::vector<std::string> left_out;
    for (std::size_t r = 0; r < world(); ++r)
      files[r].save(folder.path() / ("rank" + std::to_string(r) + ".steps"));
    return analysis::traces::attached_in(folder.path(), left_out);
  }
  [[nodiscard]] analysis::traces::TraceStudy study() const { return analysis::traces::study_of(ranks()); }

  static constexpr double kUsual_ms[] = {2, 10, 20, 3};
  static constexpr const char* kLoader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
  std::vector<MadeStepFile> files;

 private:
  std::vector<std::int64_t> now_;
};

}  // namespace paceline::testing
