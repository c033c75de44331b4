# SPDX-License-Identifier: MIT
"""Reads regular files only: a pipe would wait for a writer, and a device has no end."""


def read_bytes(file):
    """The content of a file. Raises ValueError for what is no regular file."""
    if not file.is_file():
        raise ValueError(f"'{file}' is no regular file")
    return file.read_bytes()


def read_text(file):
    """Likewise, as text."""
    return read_bytes(file).decode("utf-8")
