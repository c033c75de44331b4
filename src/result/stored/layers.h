// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/maybe.h"

// Times of a model's layers, from a pass under the engine's profiler.
namespace paceline::result {

struct LayerRow {
  std::string name;         // as the engine names it
  std::string type;         // the engine's word: QLinearConv, FullyConnected, aten::conv2d
  std::string precision;    // of its arithmetic; empty: the engine does not tell
  std::string model_layer;  // the model's name for it; empty: names do not tell
  Number time_ns;           // the profile's statistic over the inferences
  Number share;             // of the sum of all layers
  // One time per profile (kLayerProfiles), as its engine reports it: a median or mean over a few inferences.
  // Empty in results of versions without them.
  std::vector<double> times_ns{};
};

struct LayerProfile {
  bool asked = false;
  std::string source;                                       // how it was measured, in words
  std::string statistic = "mean";                           // of a layer's times; median in newer results
  Count inferences = Count::missing("no layer profile");    // that the statistic is taken over
  Count layers = Count::missing("no layer profile");        // in `file`
  Number sum_ns = Number::missing("no layer profile");      // of all layers
  Number of_latency = Number::missing("no layer profile");  // sum_ns over the measured median
  std::string file;                                         // beside result.json: every layer, in order
  std::vector<LayerRow> top;                                // the longest ones
  std::string reason;                                       // why there are no times although asked for
};

inline constexpr std::size_t kTopLayers = 10;
// Number of profiles among which a layer pass divides its inferences, so that their spread is known.
inline constexpr int kLayerProfiles = 7;

// Merges profiles of one model: the layers of the last one, each with its times and their median. Layers are
// the same by name, else by type and order; a profile that ran others lacks their times.
std::vector<LayerRow> merged_profiles(const std::vector<std::vector<LayerRow>>& profiles);

// Fills in the shares of `rows`, and makes a profile with their sum and the longest rows. Rows without a time
// count as 0 and come last.
LayerProfile summarize_layers(std::vector<LayerRow>& rows, const Number& p50_ns);

// Columns index,name,type,precision,model_layer,time_ns,share,times_ns; the cell of a missing number is
// empty. Blanks separate times.
std::string layers_to_csv(const std::vector<LayerRow>& rows);
// Reads such a file, also without times_ns. Throws Error(kIo), or Error(kData) naming file and line.
std::vector<LayerRow> read_layers_csv(const std::filesystem::path& path);

}  // namespace paceline::result
