// SPDX-License-Identifier: MIT
// A full-screen view in a terminal.
#pragma once
#include <vector>

#include "monitor/view.h"

namespace paceline::monitor {

// Takes the terminal while it lives, and gives it back as it was.
class Screen {
 public:
  // Throws Error(kUnavailable) for a terminal that cannot be drawn on (TERM).
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  [[nodiscard]] static std::size_t columns();
  // Draws only what has changed; lines beyond the last row are left out, which the last row then says.
  void draw(const std::vector<ViewLine>& lines);
  enum class Key { kNone, kQuit, kResized };
  // Returns the typed key, without waiting.
  Key key();
};

}  // namespace paceline::monitor
