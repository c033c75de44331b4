# SPDX-License-Identifier: MIT
# Libraries of the core; each comes from the distribution (scripts/setup.sh installs what is missing).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)
pkg_check_modules(LIBCRYPTO REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(PROMETHEUS REQUIRED IMPORTED_TARGET prometheus-cpp-core)

# paceline_static_library(TARGET NAME HEADER LIBRARIES…): linked into the binaries, so that a bundle needs no package for it, and none of
# the packages that the shared one needs.
function(paceline_static_library target name header)
  find_library(${name}_FILE NAMES lib${name}.a ${name} REQUIRED)
  find_path(${name}_INCLUDE ${header} REQUIRED)
  add_library(${target} UNKNOWN IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${${name}_FILE} INTERFACE_INCLUDE_DIRECTORIES ${${name}_INCLUDE} INTERFACE_LINK_LIBRARIES "${ARGN}")
endfunction()
paceline_static_library(LibArchive::LibArchive archive archive.h ZLIB::ZLIB)
paceline_static_library(Curses::Tinfo tinfo term.h)
paceline_static_library(Curses::Static ncursesw curses.h Curses::Tinfo)
paceline_static_library(SQLite::Static sqlite3 sqlite3.h Threads::Threads ${CMAKE_DL_LIBS} m)
