// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <string_view>

namespace paceline {

// Where training data can come from. The plan is read with it, and the rank opens it.
struct DataSource {
  enum class Path { kNone, kFile, kFolder, kEither };

  std::string_view name;
  Path path;                          // what data.path is
  std::string_view item;              // what one sample is: images, sequences; empty: what the model takes
  std::string_view endings{};         // accepted endings of its file, comma-separated; empty: any
  bool one_folder_per_class = false;  // data.path holds one folder per class
};

inline constexpr std::array kDataSources{
    DataSource{"synthetic", DataSource::Path::kNone, ""},
    DataSource{"cifar10", DataSource::Path::kEither, "images"},
    DataSource{"cifar100", DataSource::Path::kEither, "images"},
    DataSource{"image_folder", DataSource::Path::kFolder, "images", "", true},
    DataSource{"token_file", DataSource::Path::kFile, "sequences", ".bin,.u16,.u32"},
    DataSource{"npz", DataSource::Path::kFile, "images"},
};

}  // namespace paceline
