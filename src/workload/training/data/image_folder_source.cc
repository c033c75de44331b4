// SPDX-License-Identifier: MIT
// The data source of a folder of images, one folder per class.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/lower_case.h"
#include "base/picture_files.h"
#include "base/text.h"
#include "base/units.h"
#include "workload/rgb_image.h"
#include "workload/training/data/augment.h"
#include "workload/training/data/held_out.h"
#include "workload/training/data/sources.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

// Pictures beside the class folders have no class.
LeftOut beside_folders(const fs::path& root, std::error_code& error) {
  auto [files, left_out] = pictures_in(root, false, error);
  for (const auto& file : files) ++left_out.files[lower_case(file.extension().string())];
  return left_out;
}

[[noreturn]] void cannot_list(const fs::path& folder, const std::error_code& error) {
  throw Error(ErrorCode::kIo,
              fmt::format("cannot read data.path '{}': {}", folder.string(), error.message()));
}

struct Folders {
  std::vector<fs::path> classes;  // in the order of names
  LeftOut left_out;               // what lies beside them
};

Folders folders_of(const fs::path& root) {
  std::error_code error;
  Folders found;
  for (fs::directory_iterator at(root, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    std::error_code broken;  // a link that leads nowhere
    if (at->is_directory(broken) && !is_hidden(at->path())) found.classes.push_back(at->path());
  }
  if (!error) found.left_out = beside_folders(root, error);
  if (error) cannot_list(root, error);
  std::sort(found.classes.begin(), found.classes.end());
  return found;
}

PictureFiles pictures_below(const fs::path& folder) {
  std::error_code error;
  auto found = pictures_in(folder, true, error);
  if (error) cannot_list(folder, error);
  if (!found.files.empty()) return found;
  const auto others = found.left_out.words();
  throw Error(
      ErrorCode::kData,
      fmt::format("class folder '{}' contains no .jpg, .jpeg or .png file{}; every folder in data.path "
                  "is a class",
                  folder.string(), others.empty() ? "" : fmt::format(" (but {})", others)));
}

// Classes are those of the training folders, whichever part is read: held-out data may lack some.
std::vector<std::string> class_names(pass::DataSpec data) {
  data.held_out = false;
  std::vector<std::string> names;
  for (const auto& folder : folders_of(image_folder_of(data)).classes)
    names.push_back(folder.filename().string());
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
    auto [folders, left_out] = folders_of(root_);
    check_classes(static_cast<std::int64_t>(folders.size()), setup);
    const auto classes = class_names(setup.data);
    for (const auto& folder : folders) {
      auto below = pictures_below(folder);
      left_out.add(below.left_out);
      for (auto& file : below.files) pictures_.push_back({std::move(file), label_of(folder, classes)});
    }
    left_out_ = left_out.words();
    contents_ = fmt::format("{} {}", folders.size(), folders.size() == 1 ? "class" : "classes") + ", " +
                plural(std::ssize(pictures_), "picture") +
                "; left out: " + (left_out_.empty() ? "nothing" : left_out_);
  }

  [[nodiscard]] std::int64_t samples() const override { return static_cast<std::int64_t>(pictures_.size()); }

  [[nodiscard]] std::string remark() const override {
    std::vector<std::string> remarks;
    if (pictures_.back().label == 0)
      remarks.push_back(fmt::format(
          "data.path '{}' contains one class folder: every label is the same, so there is nothing to learn",
          root_));
    if (!left_out_.empty()) remarks.push_back(fmt::format("left out of '{}': {}", root_, left_out_));
    return join(remarks, "; ");
  }

  [[nodiscard]] std::string contents() const override { return contents_; }

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
      throw Error(ErrorCode::kConfig, fmt::format("data.path '{0}' contains {1} class folders, and the model "
                                                  "has {2} classes; write --num-classes {1}, or name another "
                                                  "folder",
                                                  setup.data.path, have, setup.classes));
  }

  std::string root_;
  SampleShape shape_;
  bool augment_;
  std::vector<Picture> pictures_;
  std::string left_out_, contents_;  // in words
};

}  // namespace

std::unique_ptr<Source> make_image_folder(const SourceSetup& setup) {
  if (setup.data.path.empty())
    throw Error(ErrorCode::kConfig, "data.source image_folder needs data.path: a folder of class folders");
  return std::make_unique<ImageFolderSource>(setup);
}

}  // namespace paceline::workload
