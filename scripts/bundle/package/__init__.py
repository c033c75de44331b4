# SPDX-License-Identifier: MIT
"""Paceline, as pip installs it: the tool is the command `paceline`; runs are read with paceline_results."""
