// SPDX-License-Identifier: MIT
#include "compare/matching.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "result/stored/benchmark_params.h"

namespace paceline::compare {
namespace {

using result::CaseResult;
using Cases = std::vector<const CaseResult*>;

bool is_same_benchmark(const CaseResult& a, const CaseResult& b) {
  return result::identity_of(a.benchmark) == result::identity_of(b.benchmark);
}

Cases cases_of(const result::RunResult& run) {
  Cases all;
  for (const auto& one : run.cases) all.push_back(&one);
  return all;
}

// Words of `a` that `b` lacks, each as often as it lacks them.
std::vector<std::string> words_without(const std::string& a, const std::string& b) {
  auto words = split(a, ' ');
  for (const auto& word : split(b, ' '))
    if (const auto found = std::ranges::find(words, word); found != words.end()) words.erase(found);
  return words;
}

// "flow.csv (1f2e3d4c)": one name may stand for several schedules.
std::string schedule_words(const CaseResult& one) {
  constexpr std::size_t kDigits = 8;
  if (one.benchmark.schedule.empty()) return "drawn arrivals";
  const auto& params = one.benchmark.params;
  const auto file = params.find("server.arrival");
  return fmt::format("{} ({})", file == params.end() ? "schedule" : shown_path(file->second),
                     one.benchmark.schedule.substr(0, kDigits));
}

std::string differing_words(const CaseResult& a, const CaseResult& b) {
  const auto gone = words_without(label_of(a), label_of(b)), come = words_without(label_of(b), label_of(a));
  if (gone.empty() && come.empty())
    return a.benchmark.schedule == b.benchmark.schedule ? "" : schedule_words(a) + " → " + schedule_words(b);
  const auto shown = [](const std::vector<std::string>& words) {
    return words.empty() ? std::string("nothing") : join(words, " ");
  };
  return shown(gone) + " → " + shown(come);
}

// The label with `from` replaced by `to` at the borders of words; empty where it does not contain it.
std::string renamed(const std::string& label, const Match& match) {
  const std::string framed = " " + label + " ", from = " " + match.from + " ";
  const auto at = framed.find(from);
  if (at == std::string::npos) return {};
  const auto out = framed.substr(0, at) + " " + match.to + " " + framed.substr(at + from.size());
  return std::string(trim(out));
}

bool is_named(const CaseResult& one, const std::string& name) {
  return one.case_id == name || label_of(one) == name;
}

bool is_partner(const CaseResult& a, const CaseResult& b, const Match& match) {
  if (is_named(a, match.from)) return is_named(b, match.to) || label_of(b) == renamed(label_of(a), match);
  return label_of(b) == renamed(label_of(a), match);
}

std::string labels_of(const Cases& cases) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> labels;
  for (const auto* one : cases)
    if (labels.size() < kShown) labels.push_back("'" + shown_value(label_of(*one)) + "'");
  const auto more = cases.size() > kShown ? fmt::format(" and {} more", cases.size() - kShown) : "";
  return labels.empty() ? "no case" : join(labels, ", ") + more;
}

class Matcher {
 public:
  Matcher(const result::RunResult& a, const result::RunResult& b) : all_a_(cases_of(a)), all_b_(cases_of(b)) {
    found_.only_a = all_a_, found_.only_b = all_b_;
  }

  void pair_up(const std::function<bool(const CaseResult&, const CaseResult&)>& fits) {
    for (const auto* a : all_a_) {
      if (std::ranges::find(found_.only_a, a) == found_.only_a.end()) continue;
      const auto b = std::ranges::find_if(found_.only_b, [&](const auto* one) { return fits(*a, *one); });
      if (b != found_.only_b.end()) take(a, *b);
    }
  }

  void rename(const Match& match) {
    const auto before = found_.cases.size();
    pair_up([&](const CaseResult& a, const CaseResult& b) { return is_partner(a, b, match); });
    if (found_.cases.size() == before)
      throw Error(ErrorCode::kUsage,
                  fmt::format("--match {}={}: no case without a partner is called so; A has {}; B has {}",
                              shown_value(match.from), shown_value(match.to), labels_of(found_.only_a),
                              labels_of(found_.only_b)));
  }

  Matching finish() {
    if (all_a_.size() == 1 && all_b_.size() == 1 && found_.cases.empty())
      require_one_kind(*all_a_.front(), *all_b_.front()), take(all_a_.front(), all_b_.front());
    if (found_.cases.empty()) no_common_case();
    std::ranges::stable_sort(found_.cases, {}, [&](const MatchedCase& one) {
      return std::ranges::find(all_a_, one.a) - all_a_.begin();
    });
    return std::move(found_);
  }

 private:
  static void require_one_kind(const CaseResult& a, const CaseResult& b) {
    if (a.benchmark.kind != b.benchmark.kind)
      throw Error(ErrorCode::kUsage,
                  fmt::format("A is a case of {} and B one of {}; compare runs of one kind",
                              traits_of(a.benchmark.kind).name, traits_of(b.benchmark.kind).name));
  }

  void take(const CaseResult* a, const CaseResult* b) {
    require_one_kind(*a, *b);
    found_.cases.push_back({a, b, differing_words(*a, *b)});
    std::erase(found_.only_a, a);
    std::erase(found_.only_b, b);
  }

  [[noreturn]] void no_common_case() const {
    if (!all_a_.empty() && !all_b_.empty()) require_one_kind(*all_a_.front(), *all_b_.front());
    throw Error(ErrorCode::kUsage, fmt::format("the runs have no case in common: A has {}; B has {}; name "
                                               "what corresponds with --match OLD=NEW",
                                               labels_of(all_a_), labels_of(all_b_)));
  }

  Cases all_a_, all_b_;
  Matching found_;
};

}  // namespace

Match parse_match(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error(ErrorCode::kUsage,
                fmt::format("--match {}: write OLD=NEW, e.g. onnxruntime=openvino", shown_value(text)));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

const std::string& label_of(const result::CaseResult& one) {
  return one.label.empty() ? one.case_id : one.label;
}

Matching match_cases(const result::RunResult& a, const result::RunResult& b,
                     const std::vector<Match>& matches) {
  Matcher matcher(a, b);
  // A name that is chosen goes before what looks equal.
  for (const auto& match : matches) matcher.rename(match);
  matcher.pair_up(is_same_benchmark);
  return matcher.finish();
}

}  // namespace paceline::compare
