// SPDX-License-Identifier: MIT
#include "monitor/screen.h"

#define NCURSES_NOMACROS 1
#include <curses.h>
#include <fmt/format.h>

#include <algorithm>
#include <clocale>

#include "base/error.h"

namespace paceline::monitor {
namespace {

void put(int row, const ViewLine& line) {
  if (line.strong) ::attron(A_BOLD);
  ::mvaddstr(row, 0, line.text.c_str());
  if (line.strong) ::attroff(A_BOLD);
  ::clrtoeol();
}

}  // namespace

Screen::Screen() {
  (void)std::setlocale(LC_CTYPE, "");
  if (!::newterm(nullptr, stdout, stdin))
    throw Error(ErrorCode::kUnavailable, "this terminal cannot be drawn on; is TERM right?");
  ::cbreak();
  ::noecho();
  ::keypad(stdscr, true);
  ::nodelay(stdscr, true);
  ::curs_set(0);
}

Screen::~Screen() {
  ::endwin();
}

std::size_t Screen::columns() {
  return static_cast<std::size_t>(std::max(1, getmaxx(stdscr)));
}

void Screen::draw(const std::vector<ViewLine>& lines) {
  const int rows = getmaxy(stdscr), count = static_cast<int>(lines.size());
  const int shown = count <= rows ? count : rows - 1;
  for (int row = 0; row < shown; ++row) put(row, lines[static_cast<std::size_t>(row)]);
  if (shown < count) put(rows - 1, {fmt::format("… {} more lines; q quits", count - shown), true});
  if (shown == count) ::move(count, 0), ::clrtobot();
  ::refresh();
}

Screen::Key Screen::key() {
  const int typed = ::getch();
  if (typed == KEY_RESIZE) return Key::kResized;
  return typed == 'q' || typed == 'Q' ? Key::kQuit : Key::kNone;
}

}  // namespace paceline::monitor
