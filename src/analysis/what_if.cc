// SPDX-License-Identifier: MIT
#include "analysis/what_if.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analysis/setting_words.h"
#include "analysis/step_prediction.h"
#include "analysis/trained_cases.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline::analysis {
namespace {

using result::CaseResult;
using result::RunResult;

constexpr double kMiB = 1024.0 * 1024.0;
constexpr double kDefaultCapMb = 25;      // of DDP, whose first bucket is then 1 MiB
constexpr double kMostModelError = 0.10;  // of the modelled step against the measured one
constexpr double kErrorOfSaving = 0.15;   // relative: what the model leaves out
constexpr double kErrorOfStep = 0.005;    // likewise, of the step
constexpr double kLeastSaving = 0.02;     // of a step, for a recommendation
constexpr double kHalf = 0.5;             // bytes of a gradient in 16 bits
constexpr double kOneSize = 1e-6;         // determinant below which bytes and messages are not told apart

// Model of a step. Gradients become ready while the backward pass goes on, in the order of `ready`.
struct State {
  double own_ns = 0, backward_ns = 0, data_wait_ns = 0, straggler_wait_ns = 0;
  std::vector<ReadyBucket> buckets;
  RingCost link;
  std::int64_t world = 1;
  double batch = 1;
};

double step_of(const State& s) {
  return s.own_ns + s.straggler_wait_ns + exposed_communication(s.buckets, s.link, s.world);
}

// How long before the last gradient `bytes` of them are ready; between buckets it is interpolated.
double before_last(const State& s, double bytes) {
  double seen = 0, at = s.backward_ns;
  for (const auto& bucket : s.buckets) {
    const double next = seen + bucket.bytes;
    if (bytes <= next)
      return at + (bucket.before_last_ns - at) * (bucket.bytes > 0 ? (bytes - seen) / bucket.bytes : 1);
    seen = next, at = bucket.before_last_ns;
  }
  return 0;
}

std::vector<ReadyBucket> divided(const State& s, double cap_mb) {
  double total = 0;
  for (const auto& bucket : s.buckets) total += bucket.bytes;
  const double cap = cap_mb * kMiB;
  std::vector<ReadyBucket> buckets;
  for (double begin = 0; begin < total - 1;) {
    const double size = buckets.empty() && cap_mb == kDefaultCapMb ? kMiB : cap;
    const double end = std::min(total, begin + size);
    buckets.push_back({.bytes = end - begin, .before_last_ns = before_last(s, end)});
    begin = end;
  }
  return buckets;
}

// Own time of cases that differ in nothing but the batch, as a straight line; empty: there is no other.
struct Line {
  double at_zero = 0, per_sample = 0;
};
result::Benchmark without_batch(result::Benchmark b) {
  b.id.clear(), b.batch_per_rank = 0;
  return b;
}
std::vector<Line> line_over_batches(const RunResult& run, const CaseResult& one, const State& here) {
  for (const auto& other : run.cases) {
    const auto batch = static_cast<double>(other.benchmark.batch_per_rank);
    if (batch == here.batch || without_batch(other.benchmark) != without_batch(one.benchmark)) continue;
    for (const auto& point : point_of(other)) {
      const double slope = (point.own_ns - here.own_ns) / (batch - here.batch);
      return {{here.own_ns - slope * here.batch, slope}};
    }
  }
  return {};
}

// Each change makes another state, or says why it cannot.
struct Question {
  const RunResult& run;
  const CaseResult& one;
};
using Apply = std::string (*)(const Question&, const std::string& value, State&);

std::string change_link(const Question&, const std::string& value, State& s) {
  s.link.ns_per_byte /= *parse_double(value.substr(0, value.size() - 1));
  return {};
}

std::string change_buckets(const Question&, const std::string& value, State& s) {
  s.buckets = divided(s, *parse_double(value));
  return {};
}

std::string change_hook(const Question& q, const std::string& value, State& s) {
  const bool compressed = q.one.benchmark.params.contains("ddp.comm_hook"), wanted = value != "none";
  const double factor = compressed == wanted ? 1 : wanted ? kHalf : 1 / kHalf;
  for (auto& bucket : s.buckets) bucket.bytes *= factor;
  return {};
}

std::string change_batch(const Question& q, const std::string& value, State& s) {
  const auto line = line_over_batches(q.run, q.one, s);
  if (line.empty())
    return "how computing grows with the batch is not known; measure a second batch in the same run";
  const double batch = *parse_double(value);
  const double own = line.front().at_zero + line.front().per_sample * batch, factor = own / s.own_ns;
  if (own <= 0) return "the two batches measured do not show how computing grows";
  s.own_ns = own, s.backward_ns *= factor, s.batch = batch;
  for (auto& bucket : s.buckets) bucket.before_last_ns *= factor;
  return {};
}

std::string change_stragglers(const Question&, const std::string&, State& s) {
  s.straggler_wait_ns = 0;
  return {};
}

std::string change_loader(const Question&, const std::string&, State& s) {
  s.own_ns -= std::exchange(s.data_wait_ns, 0);
  return {};
}

bool is_factor(const std::string& value) {
  const auto number = value.ends_with("x") ? parse_double(value.substr(0, value.size() - 1)) : std::nullopt;
  return number && *number > 0 && std::isfinite(*number);
}
bool is_size(const std::string& value) {
  const auto number = parse_double(value);
  return number && *number >= 0.001 && *number <= 1e6;
}
bool is_hook(const std::string& value) {
  return value == "none" || value == "fp16_compress" || value == "bf16_compress";
}
bool is_batch(const std::string& value) {
  const auto number = parse_int(value);
  return number && *number >= 1 && *number <= 1'000'000;
}
bool is_none(const std::string& value) {
  return value == "none";
}
bool is_fast(const std::string& value) {
  return value == "fast";
}

struct Key {
  std::string_view name, example;
  bool (*valid)(const std::string& value);
  Apply apply;
  bool of_link;  // needs what messages and bytes cost
};
constexpr std::array<Key, 6> kKeys{{{"link", "2x", is_factor, change_link, true},
                                    {"bucket_cap_mb", "50", is_size, change_buckets, true},
                                    {"comm_hook", "fp16_compress", is_hook, change_hook, true},
                                    {"batch", "64", is_batch, change_batch, true},
                                    {"stragglers", "none", is_none, change_stragglers, false},
                                    {"loader", "fast", is_fast, change_loader, false}}};

const Key& key_of(const std::string& name) {
  const auto* const row = std::ranges::find(kKeys, name, &Key::name);
  if (row != kKeys.end()) return *row;
  std::vector<std::string> forms;
  for (const auto& key : kKeys) forms.push_back(fmt::format("{}={}", key.name, key.example));
  throw Error(ErrorCode::kUsage, fmt::format("--what-if {}: unknown; use {}", name, fmt::join(forms, ", ")));
}

// The points of the case and of those that differ in ranks, batch and buckets, as far as they have the same
// link: ranks of one host have another one than ranks of several.
std::vector<ScalePoint> points_beside(const RunResult& run, const CaseResult& one) {
  const auto on_link = [](result::Benchmark b) {
    b.world_size = 0;
    b.params.erase("ddp.bucket_cap_mb");
    return without_batch(std::move(b));
  };
  const auto mine = on_link(one.benchmark);
  std::vector<ScalePoint> points;
  for (const auto& other : run.cases)
    if (on_link(other.benchmark) == mine &&
        (other.benchmark.world_size < 2 || is_on_hosts(other) == is_on_hosts(one)))
      for (auto& point : point_of(other)) points.push_back(std::move(point));
  return points;
}

// Whether messages and bytes can be told apart: buckets of two sizes, or two numbers of ranks.
bool determines_link(const std::vector<ScalePoint>& points) {
  double aa = 0, ab = 0, bb = 0;
  for (const auto& point : points)
    for (const auto& bucket : point.buckets) {
      if (point.world < 2 || bucket.transfer_ns <= 0) continue;
      const double share = bucket.bytes / static_cast<double>(point.world);
      aa += 1, ab += share, bb += share * share;
    }
  return aa * bb - ab * ab > kOneSize * aa * bb;
}

struct Model {
  State now;
  double measured_ns = 0;  // the step
  double error_ns = 0;     // of the modelled communication
  std::string no_link;     // why nothing is known about messages and bytes
  std::string refused;     // why there is no answer at all
};

Model model_of(const RunResult& run, const CaseResult& one) {
  Model m;
  const auto measured = point_of(one);
  if (measured.empty() || measured.front().world < 2) {
    m.refused = "costs of steps were not measured with several ranks";
    return m;
  }
  const auto& point = measured.front();
  const auto& costs = one.training()->costs;
  const auto points = points_beside(run, one);
  m.now = {.own_ns = point.own_ns,
           .backward_ns = costs.own_ns[result::OwnPart::kBackward].value.value().value_or(0),
           .data_wait_ns = costs.own_ns[result::OwnPart::kDataWait].value.value().value_or(0),
           .straggler_wait_ns = point.straggler_wait_ns,
           .buckets = point.buckets,
           .link = fit_ring(points),
           .world = point.world,
           .batch = static_cast<double>(one.benchmark.batch_per_rank)};
  std::ranges::sort(m.now.buckets, std::ranges::greater{}, &ReadyBucket::before_last_ns);
  m.measured_ns = point.step_ns();
  m.error_ns = std::abs(step_of(m.now) - point.step_ns());
  if (is_traced(one))
    m.no_link = "the gradient buckets of a job of another program are not known";
  else if (point.buckets.empty() || !determines_link(points))
    m.no_link =
        "all buckets measured have one size, so what a message costs and what a byte costs cannot be told "
        "apart; add a case with another ddp.bucket_cap_mb or number of ranks";
  else if (m.error_ns > kMostModelError * point.step_ns())
    m.no_link = fmt::format("the model is {} off for the step that was measured; at most {} is accepted",
                            format_percent(m.error_ns / point.step_ns()), format_percent(kMostModelError));
  return m;
}

Answer answer_of(const Question& question, const Model& model, const std::vector<Change>& changes) {
  Answer answer;
  std::vector<std::string> words;
  for (const auto& change : changes) words.push_back(change.text());
  answer.change = fmt::format("{}", fmt::join(words, ","));
  answer.refused = model.refused;
  State then = model.now;
  double error_ns = 0;
  for (const auto& change : changes) {
    const Key& key = key_of(change.key);
    if (key.of_link) error_ns = model.error_ns;
    if (answer.refused.empty() && key.of_link) answer.refused = model.no_link;
    if (answer.refused.empty()) answer.refused = key.apply(question, change.value, then);
  }
  if (!answer.refused.empty()) return answer;
  // The model tells the difference; it is taken off the step that was measured.
  answer.saving_ns = step_of(model.now) - step_of(then);
  answer.step_ns = std::max(1.0, model.measured_ns - answer.saving_ns);
  const double band =
      kErrorOfSaving * std::abs(answer.saving_ns) + kErrorOfStep * model.measured_ns + error_ns;
  answer.low_ns = answer.saving_ns - band, answer.high_ns = answer.saving_ns + band;
  answer.speed_up = model.measured_ns / answer.step_ns * (then.batch / model.now.batch);
  return answer;
}

// Changes that a user can make, with what to do for them as advice_to() takes it.
struct Remedy {
  std::string_view key, value, advice;
};
constexpr std::array<Remedy, 10> kRemedies{
    {{"stragglers", "none", "find out why a rank is late (its part of the step is shown beside it)"},
     {"loader", "fast", "raise {loader}, or store the data in the form that the model takes"},
     {"comm_hook", "fp16_compress", "use {fp16_compress}, and check the loss"},
     {"bucket_cap_mb", "1", "set {bucket_cap_mb} to 1"},
     {"bucket_cap_mb", "2", "set {bucket_cap_mb} to 2"},
     {"bucket_cap_mb", "5", "set {bucket_cap_mb} to 5"},
     {"bucket_cap_mb", "10", "set {bucket_cap_mb} to 10"},
     {"bucket_cap_mb", "25", "set {bucket_cap_mb} to 25"},
     {"bucket_cap_mb", "50", "set {bucket_cap_mb} to 50"},
     {"bucket_cap_mb", "100", "set {bucket_cap_mb} to 100"}}};

}  // namespace

std::vector<Change> parse_changes(const std::string& text) {
  std::vector<Change> changes;
  for (const auto& word : split(text, ',')) {
    const auto equals = word.find('=');
    Change change{std::string(trim(word.substr(0, equals))), ""};
    const Key& key = key_of(change.key);
    if (equals != std::string::npos) change.value = trim(word.substr(equals + 1));
    if (!key.valid(change.value))
      throw Error(ErrorCode::kUsage,
                  fmt::format("--what-if {}: write it like {}={}", word, key.name, key.example));
    if (std::ranges::find(changes, change.key, &Change::key) != changes.end())
      throw Error(ErrorCode::kUsage, fmt::format("--what-if {}: {} is listed twice", text, change.key));
    changes.push_back(std::move(change));
  }
  return changes;
}

bool is_on_several_ranks(const CaseResult& one) {
  return is_ok(one) && one.training() && one.training()->ddp && one.benchmark.world_size > 1;
}

std::vector<Answer> what_if(const RunResult& run, const CaseResult& one, const std::vector<Change>& changes) {
  const Question question{run, one};
  const Model model = model_of(run, one);
  std::vector<Answer> answers;
  for (const auto& change : changes) answers.push_back(answer_of(question, model, {change}));
  if (changes.size() > 1) answers.push_back(answer_of(question, model, changes));
  return answers;
}

std::vector<Answer> recommendations(const RunResult& run, const CaseResult& one) {
  const Question question{run, one};
  const Model model = model_of(run, one);
  if (!model.refused.empty()) return {};
  std::vector<Answer> best;
  for (const auto& remedy : kRemedies) {
    auto answer = answer_of(question, model, {{std::string(remedy.key), std::string(remedy.value)}});
    if (!answer.refused.empty() || answer.low_ns < kLeastSaving * model.measured_ns) continue;
    answer.advice = advice_to(one, remedy.advice);
    const auto same = std::ranges::find_if(
        best, [&](const Answer& other) { return other.change.starts_with(std::string(remedy.key) + "="); });
    if (same == best.end())
      best.push_back(std::move(answer));
    else if (same->saving_ns < answer.saving_ns)
      *same = std::move(answer);
  }
  std::ranges::sort(best, std::ranges::greater{}, &Answer::saving_ns);
  return best;
}

}  // namespace paceline::analysis
