// SPDX-License-Identifier: MIT
// Which files of a folder are pictures, and what else is there.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace paceline {

// Files and folders that are not read. Hidden names begin with a point, as other programs leave them.
struct LeftOut {
  std::map<std::string, std::int64_t> files;  // by suffix: {".webp", 3}; "hidden" counts all of these
  std::vector<std::string> folders;           // hidden ones, by name
  void add(const LeftOut& other);
  // "3 .webp, 1 hidden file, hidden folder .ipynb_checkpoints"; empty: nothing is left out.
  [[nodiscard]] std::string words() const;
};

struct PictureFiles {
  std::vector<std::filesystem::path> files;  // in the order of names
  LeftOut left_out;
};

bool is_hidden(const std::filesystem::path& path);

// JPEG and PNG files of a folder and, with `below`, of the folders in it. A link that leads nowhere counts,
// so that reading it names it in an error; pipes and devices do not. `error`: why the folder cannot be
// listed.
PictureFiles pictures_in(const std::filesystem::path& folder, bool below, std::error_code& error);

// The folders of an image folder: data.path itself, or train/ where val/ or test/ lies beside it.
struct PictureFolders {
  std::filesystem::path training, held_out;  // held_out is empty where there is none
};
PictureFolders picture_folders(const std::filesystem::path& root);

// How many pictures lie in the folders of a folder, which are classes; 0 where it cannot be listed.
std::int64_t count_pictures_of_classes(const std::filesystem::path& folder);

}  // namespace paceline
