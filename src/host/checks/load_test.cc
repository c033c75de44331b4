// SPDX-License-Identifier: MIT
#include "host/checks/load_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/display_text.h"
#include "base/text.h"
#include "host/checks/load_figures.h"
#include "stats/median.h"
#include "stats/quantile.h"

namespace paceline::host {
namespace {

constexpr int kFewestRounds = 2;
constexpr const char* kRepeat = "repeat with a longer --load";
constexpr const char* kLeaveOut =
    "look at its clocks, cooling and power (nvidia-smi -q -d PERFORMANCE, dmesg); leave it out of runs until "
    "it is as fast as its peers";

const std::vector<Purpose> kAllPurposes{Purpose::kMultiRankTraining, Purpose::kInference};

struct Samples {
  std::string unit;
  std::vector<double> per_s;
  double spread = 0;
};

LoadFigure figure_of(const std::string& where, const std::string& what, const Samples& samples) {
  const auto sorted = stats::sorted_copy(samples.per_s);
  const auto median = stats::estimate_quantile(samples.per_s, stats::kPpmP50);
  const double half = samples.spread / 2;
  return {where,
          what,
          samples.unit,
          stats::median_sorted(sorted),
          median.ci_low.value_or(sorted.front()) * (1 - half),
          median.ci_high.value_or(sorted.back()) * (1 + half),
          std::ssize(samples.per_s)};
}

// One measurement of all units in turns.
class Measurement {
 public:
  Measurement(const std::vector<LoadUnit>& units, const LoadOptions& options) {
    const double end = options.now_s() + options.seconds;
    const auto goes_on = [&](int round) {
      return failures.size() < units.size() && !options.interrupted() &&
             (round < kFewestRounds || options.now_s() < end);
    };
    for (int round = 0; goes_on(round); ++round)
      for (const auto& unit : units) {
        if (options.interrupted()) return;
        if (!failures.contains(unit.where)) measure(unit);
      }
  }

  [[nodiscard]] std::vector<LoadFigure> figures() const {
    std::vector<LoadFigure> all;
    for (const auto& [key, samples] : samples_) all.push_back(figure_of(key.first, key.second, samples));
    return all;
  }

  std::map<std::string, std::string> failures;  // by unit

 private:
  void measure(const LoadUnit& unit) try {
    for (const auto& reading : unit.measure()) {
      auto& samples = samples_[{unit.where, reading.what}];
      samples.unit = reading.unit;
      samples.per_s.push_back(reading.per_s);
      samples.spread = std::max(samples.spread, reading.spread);
    }
  } catch (const std::exception& e) {
    failures[unit.where] = plain_reason(e);
  }

  std::map<std::pair<std::string, std::string>, Samples> samples_;
};

const LoadFigure* same_figure(const std::vector<LoadFigure>& figures, const LoadFigure& figure) {
  const auto found = std::ranges::find(figures, figure.name(), &LoadFigure::name);
  return found == figures.end() ? nullptr : &*found;
}

class Judge {
 public:
  Judge(const std::vector<LoadUnit>& units, const LoadOptions& options) : options_(options) {
    for (const auto& unit : units) kinds_[unit.where] = unit.kind;
  }

  // The peer in the middle; of an even number the slower one of the two. Null without peers.
  [[nodiscard]] const LoadFigure* middle_peer(const std::vector<LoadFigure>& all,
                                              const LoadFigure& figure) const {
    std::vector<const LoadFigure*> peers;
    for (const auto& other : all)
      if (other.where != figure.where && other.what == figure.what &&
          kinds_.at(other.where) == kinds_.at(figure.where))
        peers.push_back(&other);
    std::ranges::sort(peers, {}, &LoadFigure::median);
    return peers.empty() ? nullptr : peers[(peers.size() - 1) / 2];
  }

  // Names the slow figures, with what they are slower than.
  [[nodiscard]] std::map<std::string, std::string> slow(const std::vector<LoadFigure>& all) const {
    std::map<std::string, std::string> found;
    for (const auto& figure : all) {
      const auto* expected = same_figure(options_.expected, figure);
      const auto* peer = middle_peer(all, figure);
      if (peer && is_slower(figure, *peer))
        found[figure.name()] = fmt::format("its peers reach {}", shown_figure(*peer));
      else if (expected && is_slower(figure, *expected))
        found[figure.name()] = fmt::format("{} were saved", shown_figure(*expected));
    }
    return found;
  }

 private:
  const LoadOptions& options_;
  std::map<std::string, std::string> kinds_;
};

using Slow = std::map<std::string, std::string>;

// Describes one unit: its figures, and the result of both measurements.
CheckedRow row_of(const std::string& where, const std::vector<LoadFigure>& figures, const Slow& first,
                  const Slow& second, bool has_peers) {
  std::vector<std::string> words;
  auto status = Verdict::kYes;
  for (const auto& figure : figures) {
    if (figure.where != where) continue;
    auto text = fmt::format("{} {}", figure.what, shown_figure(figure));
    const auto once = first.find(figure.name()), twice = second.find(figure.name());
    if (once != first.end() && twice != second.end()) {
      status = Verdict::kNo;
      text += fmt::format(", too slow in both measurements: {}", twice->second);
    } else if (once != first.end()) {
      status = std::max(status, Verdict::kReservedly);
      text += ", slow in the first of two measurements only";
    }
    words.push_back(std::move(text));
  }
  if (!has_peers) words.emplace_back("no peer here to compare with");
  const auto* fix = status == Verdict::kNo ? kLeaveOut : status == Verdict::kReservedly ? kRepeat : "";
  return {"load " + where, kAllPurposes, {status, join(words, "; "), fix}};
}

}  // namespace

LoadTest run_load(const std::vector<LoadUnit>& units, const LoadOptions& given) {
  auto options = given;
  if (!options.now_s) options.now_s = [] { return static_cast<double>(SteadyClock().now_ns()) * 1e-9; };
  if (!options.interrupted) options.interrupted = [] { return false; };
  const Judge judge(units, options);
  Measurement one(units, options);
  LoadTest test{one.figures(), {}};
  const auto first = judge.slow(test.figures);
  Slow second;
  auto failures = one.failures;
  if (!first.empty() && !options.interrupted()) {
    std::vector<LoadUnit> alive;
    for (const auto& unit : units)
      if (!failures.contains(unit.where)) alive.push_back(unit);
    const Measurement again(alive, options);
    const auto figures = again.figures();
    second = judge.slow(figures);
    failures.insert(again.failures.begin(), again.failures.end());
    for (auto& figure : test.figures)
      if (const auto* later = same_figure(figures, figure);
          later && first.contains(figure.name()) && later->median > figure.median)
        figure = *later;
  }
  for (const auto& unit : units) {
    const auto failed = failures.find(unit.where);
    const bool has_peers = std::ranges::count(units, unit.kind, &LoadUnit::kind) > 1;
    if (failed == failures.end())
      test.rows.push_back(row_of(unit.where, test.figures, first, second, has_peers));
    else
      test.rows.push_back(
          {"load " + unit.where,
           kAllPurposes,
           {Verdict::kNo, "could not be measured: " + failed->second, "dmesg shows what happened to it"}});
  }
  return test;
}

}  // namespace paceline::host
