// SPDX-License-Identifier: MIT
#include "workload/training/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/bounded_json.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/units.h"
#include "workload/training/data/held_out.h"
#include "workload/training/data/loader.h"

namespace paceline::workload {
namespace {

// Sums over batches of one rank.
struct Sums {
  double loss = 0;  // sum of the mean losses of batches
  std::int64_t batches = 0, correct = 0, judged = 0, samples = 0;
};

std::string text_of(const Sums& s) {
  return nlohmann::json(std::array{s.loss, static_cast<double>(s.batches), static_cast<double>(s.correct),
                                   static_cast<double>(s.judged), static_cast<double>(s.samples)})
      .dump();
}

void add_to(Sums& all, const std::string& text) {
  const auto one = parsed_json(text).get<std::array<double, 5>>();
  const auto count = [&](std::size_t i) { return static_cast<std::int64_t>(one[i]); };
  all.loss += one[0], all.batches += count(1), all.correct += count(2), all.judged += count(3);
  all.samples += count(4);
}

const pass::TrainSpec& train_of(const pass::PassSpec& spec) {
  return std::get<pass::TrainSpec>(spec.task);
}

LoaderSetup setup_of(const pass::PassSpec& spec, const plugin::Trainer& trainer) {
  LoaderSetup setup;
  setup.data = train_of(spec).data;
  setup.data.held_out = true;
  setup.data.shuffle = setup.data.augment = false;
  setup.specs = trainer.batch_specs();
  setup.classes = setup.vocabulary = trainer.info().classes;
  setup.rank = static_cast<int>(spec.rank), setup.world = static_cast<int>(spec.world_size);
  return setup;
}

std::string words(const result::HeldOutFigures& f) {
  const auto accuracy = f.accuracy ? fmt::format(", accuracy {}", format_percent(*f.accuracy)) : "";
  return fmt::format("epoch {}: held-out loss {:.4f}{} ({} samples in {:.1f} s)", f.epoch,
                     f.loss.value().value_or(0), accuracy, *f.samples, *f.seconds);
}

}  // namespace

Evaluation::Evaluation(const pass::PassSpec& spec, plugin::Trainer& trainer, plugin::RankGroup* group,
                       TaggedSink& sink)
    : spec_(spec),
      trainer_(trainer),
      group_(group),
      sink_(sink),
      every_epochs_(train_of(spec).eval_every_epochs) {
  if (every_epochs_ > 0 && !usable()) every_epochs_ = 0;
}

// Data that one rank cannot read are used by no rank.
bool Evaluation::usable() {
  std::array<double, 2> no{0, 0};  // [0]: there are none; [1]: they cannot be used
  std::string why;
  if (!has_held_out(train_of(spec_).data)) no[0] = 1;
  if (no[0] == 0) try {
      const Loader tried(setup_of(spec_, trainer_));
    } catch (const Error& e) {
      no[1] = 1;
      why = e.what();
    }
  if (group_) group_->reduce_max(no);
  if (!why.empty())
    sink_.emit(pass::notice_record(fmt::format("no evaluation: held-out data cannot be used: {}", why)));
  return no[0] == 0 && no[1] == 0;
}

bool Evaluation::due_after(std::int64_t epoch) const {
  return every_epochs_ > 0 && epoch > last_ && (epoch + 1) % every_epochs_ == 0;
}

void Evaluation::run(std::int64_t epoch) {
  last_ = epoch;
  sink_.phase("evaluate");
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  Loader loader(setup_of(spec_, trainer_));  // its threads end before training continues
  Sums mine;
  while (loader.step() < loader.steps_per_epoch()) {
    const auto outcome = trainer_.evaluate(loader.next());
    mine.loss += outcome.loss, mine.correct += outcome.correct, mine.judged += outcome.judged;
    ++mine.batches, mine.samples += loader.samples_per_step();
  }
  const auto text = text_of(mine);
  const auto all = group_ ? group_->gather(text) : std::vector{text};
  if (spec_.rank == 0) add(epoch, static_cast<double>(clock.now_ns() - begin) * 1e-9, all);
  sink_.phase("measure");
}

void Evaluation::add(std::int64_t epoch, double seconds, const std::vector<std::string>& sums) {
  Sums all;
  for (const auto& text : sums) add_to(all, text);
  result::HeldOutFigures f;
  f.epoch = epoch;
  f.samples = all.samples;
  f.loss = all.loss / static_cast<double>(all.batches);
  f.accuracy = all.judged > 0 ? Number(static_cast<double>(all.correct) / static_cast<double>(all.judged))
                              : Number::missing("no labels to judge by");
  f.seconds = seconds;
  sink_.emit(pass::notice_record(words(f)));
  figures_.push_back(f);
}

}  // namespace paceline::workload
