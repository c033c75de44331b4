// SPDX-License-Identifier: MIT
// The interface of a labelled data set.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "pass/train_spec.h"

namespace paceline::workload {

// Parts of one sample of a model; 0: the model has no such part.
struct SampleShape {
  std::int64_t channels = 0, height = 0, width = 0;  // image, planes of float32
  std::int64_t tokens = 0;                           // int64
  bool label = false;                                // int64
};

// Where one sample goes; null: the model has no such part.
struct SampleMemory {
  float* image = nullptr;
  std::int64_t* tokens = nullptr;
  std::int64_t* label = nullptr;
};

// A stream of random numbers for one sample in one epoch.
class Draws {
 public:
  explicit Draws(const CounterRng& random) : random_(random) {}
  double uniform(double low, double high) { return low + (high - low) * random_.uniform(used_++); }
  int below(int bound) {  // 0 … bound - 1
    return static_cast<int>(random_.below(used_++, static_cast<std::uint64_t>(bound)));
  }
  bool coin() { return below(2) == 1; }

 private:
  CounterRng random_;
  std::uint64_t used_ = 0;
};

// A labelled data set of which any sample can be read at any time, from several threads at once.
class Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual std::int64_t samples() const = 0;
  // Remark for users about it; may be empty.
  [[nodiscard]] virtual std::string remark() const { return {}; }
  // How much there is and what of it is left out, for the result; empty: nothing to say.
  [[nodiscard]] virtual std::string contents() const { return {}; }
  // Throws Error(kIo, kData) naming the file and what is wrong with it.
  virtual void read(std::int64_t index, Draws draws, const SampleMemory& sample) const = 0;
};

struct SourceSetup {
  pass::DataSpec data;
  SampleShape shape;
  std::int64_t classes = 0;     // 0: not known
  std::int64_t vocabulary = 0;  // 0: not known
};

// The source that data.source names. Throws Error(kConfig) for an unknown name, listing the known ones, and
// for a model that the source is not for.
std::unique_ptr<Source> make_source(const SourceSetup& setup);

}  // namespace paceline::workload
