// SPDX-License-Identifier: MIT
// The data source of a folder of images, one folder per class.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/lower_case.h"
#include "workload/rgb_image.h"
#include "workload/training/data/augment.h"
#include "workload/training/data/held_out.h"
#include "workload/training/data/sources.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

bool is_picture(const fs::path& file) {
  const auto suffix = lower_case(file.extension().string());
  return suffix == ".jpg" || suffix == ".jpeg" || suffix == ".png";
}

[[noreturn]] void cannot_list(const fs::path& folder, const std::error_code& error) {
  throw Error(ErrorCode::kIo,
              fmt::format("cannot read data.path '{}': {}", folder.string(), error.message()));
}

// `entry` may throw where a link leads nowhere.
bool is_folder_entry(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_directory(error);
}

// A link that leads nowhere counts, so that reading it names it in an error; pipes and devices do not.
bool is_picture_file(const fs::directory_entry& entry) {
  std::error_code error;
  return is_picture(entry.path()) && !is_folder_entry(entry) && !entry.is_other(error);
}

// The entries that `keep` accepts, in the order of names.
template <typename Iterator, typename Keep>
std::vector<fs::path> listed(const fs::path& folder, Keep keep) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (Iterator at(folder, error); !error && at != Iterator(); at.increment(error))
    if (keep(*at)) paths.push_back(at->path());
  if (error) cannot_list(folder, error);
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<fs::path> folders_of(const fs::path& root) {
  return listed<fs::directory_iterator>(root, is_folder_entry);
}

std::vector<fs::path> pictures_below(const fs::path& folder) {
  auto files = listed<fs::recursive_directory_iterator>(folder, is_picture_file);
  if (files.empty())
    throw Error(
        ErrorCode::kData,
        fmt::format(
            "class folder '{}' contains no .jpg, .jpeg or .png file; every folder in data.path is a class",
            folder.string()));
  return files;
}

// Classes are those of the training folders, whichever part is read: held-out data may lack some.
std::vector<std::string> class_names(pass::DataSpec data) {
  data.held_out = false;
  std::vector<std::string> names;
  for (const auto& folder : folders_of(image_folder_of(data))) names.push_back(folder.filename().string());
  return names;
}

std::int64_t label_of(const fs::path& folder, const std::vector<std::string>& classes) {
  const auto found = std::find(classes.begin(), classes.end(), folder.filename().string());
  if (found == classes.end())
    throw Error(ErrorCode::kData, fmt::format("class folder '{}' is not among those that are trained on: {}",
                                              folder.string(), fmt::join(classes, ", ")));
  return found - classes.begin();
}

class ImageFolderSource : public Source {
 public:
  explicit ImageFolderSource(const SourceSetup& setup)
      : root_(image_folder_of(setup.data).string()), shape_(setup.shape), augment_(setup.data.augment) {
    const auto folders = folders_of(root_);
    check_classes(static_cast<std::int64_t>(folders.size()), setup);
    const auto classes = class_names(setup.data);
    for (const auto& folder : folders)
      for (auto& file : pictures_below(folder))
        pictures_.push_back({std::move(file), label_of(folder, classes)});
  }

  [[nodiscard]] std::int64_t samples() const override { return static_cast<std::int64_t>(pictures_.size()); }

  [[nodiscard]] std::string remark() const override {
    if (pictures_.back().label > 0) return {};
    return fmt::format(
        "data.path '{}' contains one class folder: every label is the same, so there is nothing to learn",
        root_);
  }

  void read(std::int64_t index, Draws draws, const SampleMemory& sample) const override {
    const Picture& picture = pictures_[static_cast<std::size_t>(index)];
    const RgbImage image = decode_rgb(picture.file);
    const Crop crop = augment_ ? random_crop(image.width, image.height, draws)
                               : centre_crop(image.width, image.height, shape_);
    const bool mirrored = augment_ && draws.coin();
    write_sample({image.pixels.data(), image.width, image.height}, crop, mirrored, shape_, sample.image);
    if (sample.label) *sample.label = picture.label;
  }

 private:
  struct Picture {
    fs::path file;
    std::int64_t label;
  };

  static void check_classes(std::int64_t have, const SourceSetup& setup) {
    if (have == 0)
      throw Error(
          ErrorCode::kConfig,
          fmt::format(
              "data.path '{}' contains no folders; image_folder takes one folder of pictures per class",
              setup.data.path));
    if (setup.classes > 0 && have > setup.classes)
      throw Error(ErrorCode::kConfig, fmt::format("data.path '{}' contains {} class folders, and the model "
                                                  "has {} classes; name another folder or --model",
                                                  setup.data.path, have, setup.classes));
  }

  std::string root_;
  SampleShape shape_;
  bool augment_;
  std::vector<Picture> pictures_;
};

}  // namespace

std::unique_ptr<Source> make_image_folder(const SourceSetup& setup) {
  if (setup.data.path.empty())
    throw Error(ErrorCode::kConfig, "data.source image_folder needs data.path: a folder of class folders");
  return std::make_unique<ImageFolderSource>(setup);
}

}  // namespace paceline::workload
