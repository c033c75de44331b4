// SPDX-License-Identifier: MIT
#include "workload/inference/fresh_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/half.h"
#include "base/units.h"
#include "pass/input_layout.h"
#include "result/judged/reference.h"
#include "stats/quantile.h"
#include "workload/inference/unseen_inputs.h"

namespace paceline::workload {
namespace {

// As floats of any width: NaN. Each output has its own, so that NaN which an output was computed from is not
// taken for its poison.
std::uint16_t poison_word(std::size_t output) {
  constexpr std::size_t kWords = 15;
  return static_cast<std::uint16_t>(0xffff - output % kWords);
}
// Inferences on new inputs. The fastest counts, because caches are cold and threads may sleep.
struct FreshRuns {
  double below_ns;  // for typical inferences that are shorter
  std::int64_t runs;
};
constexpr std::array<FreshRuns, 2> kFreshRuns{{{1e6, 10}, {5e8, 3}}};
// New inputs may be slower than known ones, but by no more than this.
constexpr double kRepeatsAbove = 10, kRepeatsAboveNs = 200'000;
constexpr double kShareSlack = 1e-3;

std::int64_t fresh_runs(double typical_ns) {
  for (const auto& row : kFreshRuns)
    if (typical_ns < row.below_ns) return row.runs;
  return 1;
}

result::Correctness failed(result::Correctness correctness, std::string detail) {
  correctness.checked = true;
  correctness.passed = false;
  correctness.verdict = answer::Verdict::kNo;
  correctness.detail = std::move(detail);
  return correctness;
}

bool good(const result::Correctness& correctness) {
  return !result::is_wrong(correctness);
}

// Whether inferences on new inputs take so much longer that the timed ones cannot have computed.
bool repeats(double took_ns, double typical_ns) {
  return typical_ns > 0 && took_ns > kRepeatsAbove * typical_ns && took_ns > typical_ns + kRepeatsAboveNs;
}

using Answers = std::vector<std::vector<std::byte>>;

Answers copied(std::span<const TensorView> outputs) {
  Answers answers;
  for (const auto& output : outputs) {
    const auto* bytes = static_cast<const std::byte*>(output.data);
    answers.emplace_back(bytes, bytes + (bytes ? output.size_bytes() : 0));
  }
  return answers;
}

bool same_bytes(const TensorView& view, std::span<const std::byte> bytes) {
  return view.size_bytes() == bytes.size() && std::memcmp(view.data, bytes.data(), bytes.size()) == 0;
}

unsigned char poison_byte(std::size_t output, std::size_t place) {
  return static_cast<unsigned char>(place % 2 == 0 ? poison_word(output) & 0xff : poison_word(output) >> 8);
}

// Whether the whole output is still poison, which means that the engine has not written it since.
bool stayed_poisoned(const TensorView& view, std::size_t output) {
  const auto* bytes = static_cast<const unsigned char*>(view.data);
  for (std::size_t i = 0; i < view.size_bytes(); ++i)
    if (bytes[i] != poison_byte(output, i)) return false;
  return view.size_bytes() > 0;
}

// Restores the answers where the engine has its outputs in the same memory as before.
void restore(std::span<const TensorView> now, std::span<const TensorView> before, const Answers& answers) {
  for (std::size_t i = 0; i < std::min(now.size(), before.size()); ++i)
    if (now[i].data == before[i].data && now[i].size_bytes() == answers[i].size() && !answers[i].empty())
      std::memcpy(now[i].data, answers[i].data(), answers[i].size());
}

// The answers to inputs of zeros. An output that is the same for them comes from the engine's weights alone.
Answers answers_to_zeros(plugin::Engine& engine, std::span<const TensorView> inputs) {
  std::vector<Tensor> zeros;
  std::vector<TensorView> views;
  for (const auto& input : inputs) zeros.emplace_back(TensorSpec{input.name, input.dtype, input.shape});
  for (auto& tensor : zeros) views.push_back(tensor.view());
  return copied(infer(engine, views));
}

struct SameInputs {
  result::Correctness correctness;
  bool can_poison = true;  // false where others than the reader of the output read its memory
};

// Whether to ask for inputs that were not timed and to compare their answers.
bool asks_other_inputs(const pass::PassSpec& spec) {
  return spec.inference.samples > spec.batch && !spec.inference.input_files.empty();
}

bool has_batch(const pass::PassSpec& spec) {
  for (std::size_t i = 0; i < spec.inference.input_files.size(); ++i)
    if (pass::batch_dimension_of(spec.inference.batch_dimensions, i) != pass::kNoBatch) return true;
  return spec.inference.input_files.empty();
}

std::string_view text_of(const TensorView& view) {
  return {static_cast<const char*>(view.data), view.size_bytes()};
}

// The bytes of an input as an engine of this type holds them; empty: it has none of its numbers.
std::string bytes_in(const TensorView& input, DType dtype) {
  if (input.dtype == dtype) return std::string(text_of(input));
  const bool half = dtype == DType::kFloat16, brain = dtype == DType::kBFloat16;
  if (input.dtype != DType::kFloat32 || (!half && !brain)) return {};
  std::vector<std::uint16_t> values;
  const auto* numbers = static_cast<const float*>(input.data);
  for (std::int64_t i = 0; i < element_count(input.shape); ++i)
    values.push_back(half ? float_to_half(numbers[i]) : float_to_bfloat16(numbers[i]));
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::uint16_t)};
}

// Whether an output is an input or a part of one, which an engine may hand on without a copy.
bool is_part_of_input(const TensorView& input, const TensorView& output, std::span<const std::byte> answer) {
  const std::string_view bytes(reinterpret_cast<const char*>(answer.data()), answer.size());
  return !bytes.empty() && bytes_in(input, output.dtype).find(bytes) != std::string::npos;
}

// Poison may land where the engine itself reads: an output can be its copy of an input, or its weights. Only
// these two excuse an output that stayed poisoned, and at least one output must have that excuse.
bool excused(const pass::PassSpec& spec, plugin::Engine& engine, std::span<const TensorView> inputs,
             std::span<const TensorView> outputs, const Answers& answers, const std::vector<bool>& stayed) {
  const bool asks_zeros =
      (asks_other_inputs(spec) && !spec.inference.reference_file.empty()) || !has_batch(spec);
  const auto to_zeros = asks_zeros ? answers_to_zeros(engine, inputs) : Answers();
  bool any = false;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const bool reason =
        std::any_of(inputs.begin(), inputs.end(),
                    [&](const auto& input) { return is_part_of_input(input, outputs[i], answers[i]); }) ||
        (i < to_zeros.size() && to_zeros[i] == answers[i]);
    if (i < stayed.size() && stayed[i] && !reason) return false;
    any = any || reason;
  }
  return any;
}

// Runs the same inputs once more, without a bind, after the outputs were poisoned.
SameInputs verify_same_inputs(const pass::PassSpec& spec, plugin::Engine& engine,
                              std::span<const TensorView> outputs, const TimedAnswers& timed) {
  const std::vector<TensorView> before(outputs.begin(), outputs.end());
  const auto answers = copied(before);
  poison(before, timed.inputs);
  engine.enqueue(0);
  const auto again = readable(engine, engine.synchronize(0));
  const auto found = verify_outputs(spec, again);
  if (good(found)) return {found};
  std::vector<bool> stayed;
  for (const auto& output : again) stayed.push_back(stayed_poisoned(output, stayed.size()));
  restore(again, before, answers);
  const bool excuse = excused(spec, engine, timed.inputs, before, answers, stayed);
  const auto bound = verify_outputs(spec, infer(engine, timed.inputs));
  if (excuse && good(bound)) return {bound, false};
  return {
      failed(found, "the engine did not compute when the same inputs were asked for again: " + found.detail)};
}

struct FreshRun {
  result::Correctness correctness;
  double took_ns = 0;
  bool counts = true;
};

struct FreshRound {
  result::Correctness compared;
  double fastest_ns = std::numeric_limits<double>::infinity();
  std::int64_t counted = 0;
  bool wrong = false;
};

// Asks an engine for inputs that were not timed.
class FreshInputs {
 public:
  FreshInputs(const pass::PassSpec& spec, plugin::Engine& engine, bool can_poison)
      : spec_(spec), engine_(engine), can_poison_(can_poison), unseen_(spec) {}
  // Where rounds of at most `runs` batches end. The second one is filled up with copies.
  [[nodiscard]] std::int64_t first_end(std::int64_t runs) const {
    const std::int64_t samples = unseen_.of_samples();
    return std::min(runs, std::max(samples / 2, std::min(kLeast, samples)));
  }
  [[nodiscard]] std::int64_t second_end(std::int64_t runs) const {
    const std::int64_t full = first_end(runs) + runs, samples = unseen_.of_samples();
    return samples < full && !unseen_.can_scale() ? samples : full;
  }
  FreshRound round(std::int64_t begin, std::int64_t end);
  // Times the timed inputs once more, after the same pauses as new ones had, so that a slower machine or
  // sleeping threads do not count against the engine. They are not bound again, because a cheating engine may
  // compute at bind.
  double typical_now_ns(std::span<const TensorView> timed, std::int64_t begin, std::int64_t end);
  static constexpr std::int64_t kLeast = 2;  // batches of a round that accuses: one slow run proves nothing

 private:
  FreshRun ask(const UnseenBatch& batch);
  FreshRun ask_copy(const UnseenBatch& batch);
  [[nodiscard]] bool answered_anew(std::span<const TensorView> outputs) const;

  const pass::PassSpec& spec_;
  plugin::Engine& engine_;
  bool can_poison_;
  UnseenInputs unseen_;
  Answers first_, latest_;  // to the batch that copies are made of, and to the batch before
};

// The right answer to a copy is unknown, but differs from those given before.
bool FreshInputs::answered_anew(std::span<const TensorView> outputs) const {
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!stayed_poisoned(outputs[i], i) && !same_bytes(outputs[i], first_.at(i)) &&
        !same_bytes(outputs[i], latest_.at(i)))
      return true;
  return false;
}

FreshRun FreshInputs::ask(const UnseenBatch& batch) {
  engine_.bind(0, batch.views);
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  engine_.enqueue(0);
  const auto synchronized = engine_.synchronize(0);
  const auto took = static_cast<double>(clock.now_ns() - begin);
  const auto outputs = readable(engine_, synchronized);
  FreshRun run{batch.answered ? verify_outputs(spec_, outputs, *batch.answered) : result::Correctness{},
               took};
  if (!batch.scaled.empty()) run.counts = answered_anew(outputs);
  latest_ = copied(outputs);
  if (first_.empty()) first_ = latest_;
  if (can_poison_) poison(outputs, batch.views);
  return run;
}

// An engine may refuse values that nobody gave it.
FreshRun FreshInputs::ask_copy(const UnseenBatch& batch) {
  try {
    return ask(batch);
  } catch (const Error&) {
    return {result::Correctness{}, 0, false};
  }
}

FreshRound FreshInputs::round(std::int64_t begin, std::int64_t end) {
  FreshRound round;
  for (std::int64_t i = begin; i < end; ++i) {
    const auto batch = unseen_.batch(i);
    const auto run = batch.scaled.empty() ? ask(batch) : ask_copy(batch);
    if (!good(run.correctness))
      return {
          failed(run.correctness, "for other inputs than those that were timed: " + run.correctness.detail),
          0, 0, true};
    if (run.correctness.checked) round.compared = run.correctness;
    if (!run.counts) continue;
    round.fastest_ns = std::min(round.fastest_ns, run.took_ns);
    ++round.counted;
  }
  return round;
}

double FreshInputs::typical_now_ns(std::span<const TensorView> timed, std::int64_t begin, std::int64_t end) {
  infer(engine_, timed);
  const SteadyClock clock;
  std::vector<double> took;
  for (std::int64_t i = begin; i < end; ++i) {
    const auto made_as_before = unseen_.batch(i);
    const auto start = clock.now_ns();
    engine_.enqueue(0);
    engine_.synchronize(0);
    took.push_back(static_cast<double>(clock.now_ns() - start));
  }
  return stats::median(took);
}

// New inputs must be slow in two rounds, each compared with the timed inputs at the same moment, because any
// single moment may be disturbed.
result::Correctness verify_other_inputs(const pass::PassSpec& spec, plugin::Engine& engine,
                                        const TimedAnswers& timed, bool can_poison) {
  FreshInputs fresh(spec, engine, can_poison);
  const std::int64_t runs = fresh_runs(timed.typical_ns);
  result::Correctness compared;
  double fastest_ns = 0, known_ns = timed.typical_ns;
  std::int64_t begin = 0, end = fresh.first_end(runs);
  for (const int number : {1, 2}) {
    const auto round = fresh.round(begin, end);
    if (round.wrong) return round.compared;
    if (number == 1) compared = round.compared;
    fastest_ns = round.fastest_ns;
    if (round.counted < FreshInputs::kLeast || !repeats(fastest_ns, timed.typical_ns)) return compared;
    known_ns = std::max(known_ns, fresh.typical_now_ns(timed.inputs, begin, end));
    if (!repeats(fastest_ns, known_ns)) return compared;
    begin = std::exchange(end, fresh.second_end(runs));
  }
  return failed(compared, fmt::format("the engine takes {} for inputs that it has not seen and {} for those "
                                      "that were timed: it repeats answers instead of computing them",
                                      format_duration_ns(fastest_ns), format_duration_ns(known_ns)));
}

bool overlap(const TensorView& a, const TensorView& b) {
  const auto* const begin = static_cast<const std::byte*>(a.data);
  const auto* const other = static_cast<const std::byte*>(b.data);
  return begin < other + b.size_bytes() && other < begin + a.size_bytes();
}

void require(bool holds, const std::string& what) {
  if (!holds) throw Error(ErrorCode::kData, "what the engine says of itself cannot be: " + what);
}

}  // namespace

void poison(std::span<const TensorView> outputs, std::span<const TensorView> inputs) {
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    auto* const bytes = static_cast<unsigned char*>(outputs[o].data);
    if (!bytes || std::any_of(inputs.begin(), inputs.end(),
                              [&](const auto& input) { return overlap(outputs[o], input); }))
      continue;
    for (std::size_t i = 0; i < outputs[o].size_bytes(); ++i) bytes[i] = poison_byte(o, i);
  }
}

result::Correctness verify_answers(const pass::PassSpec& spec, plugin::Engine& engine,
                                   const TimedAnswers& timed) {
  const auto last = readable(engine, timed.outputs);
  SameInputs same{verify_outputs(spec, last)};
  if (good(same.correctness) && !timed.outputs.empty()) same = verify_same_inputs(spec, engine, last, timed);
  if (!good(same.correctness) || !asks_other_inputs(spec)) return same.correctness;
  return verify_other_inputs(spec, engine, timed, same.can_poison);
}

void require_plausible(const plugin::ReadBack& read) {
  double sum = 0;
  for (const auto& share : read.precisions) {
    require(std::isfinite(share.flops_share) && share.flops_share >= 0,
            fmt::format("a share of {:g} of the work in {}", share.flops_share, share.precision));
    require(share.operators >= 0, fmt::format("{} operators in {}", share.operators, share.precision));
    sum += share.flops_share;
  }
  require(sum <= 1 + kShareSlack, fmt::format("shares of precisions that add up to {:g}", sum));
  require(!read.flops || (std::isfinite(*read.flops) && *read.flops >= 0),
          fmt::format("{:g} FLOPs of an inference", read.flops.value_or(0)));
  require(!read.bytes || (std::isfinite(*read.bytes) && *read.bytes >= 0),
          fmt::format("{:g} bytes of operands", read.bytes.value_or(0)));
  require(read.peak_tensor_bytes.value_or(0) >= 0,
          fmt::format("{} bytes of tensors", read.peak_tensor_bytes.value_or(0)));
  require(read.peak_reserved_bytes.value_or(0) >= 0,
          fmt::format("{} bytes reserved", read.peak_reserved_bytes.value_or(0)));
}

}  // namespace paceline::workload
