// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "run/case/kept_store.h"
#include "run/case/kind.h"

namespace paceline::run {

// Passes that make inputs, references and quantised files. What an earlier run made of the same content, with
// the same program, libraries, CPU and settings, is used again instead.
class KeptPasses {
 public:
  // Everything outlives this.
  explicit KeptPasses(const KindTools& tools);

  // The outcome of running `pass`: its files and its report are there, or it failed. `announced`: the
  // observer hears of it.
  process::WorkerOutcome run(const CaseRun& c, const pass::PassSpec& pass, bool announced = true) const;

 private:
  // Empty: nothing is kept of this pass.
  [[nodiscard]] std::string key_of(const CaseRun& c, const pass::PassSpec& pass) const;
  [[nodiscard]] std::optional<process::WorkerOutcome> kept(const CaseRun& c, const pass::PassSpec& pass,
                                                           const std::string& key) const;
  process::WorkerOutcome make(const CaseRun& c, pass::PassSpec pass, const std::string& key,
                              bool announced) const;

  const KindTools& tools_;
  KeptStore store_;
};

}  // namespace paceline::run
