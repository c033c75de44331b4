// SPDX-License-Identifier: MIT
// Nothing: the library exists for its name and for what it links.
typedef int paceline_no_empty_file;
