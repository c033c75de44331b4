// SPDX-License-Identifier: MIT
// Makes files from files: each once, for all cases or steps that want it.
#pragma once
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pass/report.h"

namespace paceline::run {

// A file or several, and how they are made.
struct Target {
  std::string key;                         // its file, or the beginning of the names of its files
  std::vector<Target> inputs;              // made before it
  std::function<pass::PassReport()> make;  // throws where it cannot
};

// Leaves files to the caller, those of a failure, too.
class Graph {
 public:
  // Makes the target unless it has been wanted before. Returns the report of its making; throws what `make`,
  // or that of an input, threw then.
  const pass::PassReport& want(const Target& target);
  // True if the target has been wanted before, made or not.
  [[nodiscard]] bool knows(const std::string& key) const { return made_.contains(key); }

 private:
  struct Made {
    pass::PassReport report;
    std::exception_ptr failure;
  };
  std::map<std::string, Made> made_;
};

}  // namespace paceline::run
