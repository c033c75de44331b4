# SPDX-License-Identifier: MIT
"""Reads regular files only, up to a size: a pipe would wait for a writer, and a device has no end."""

import contextlib
import functools
import json
import struct

MOST_BYTES = 4 << 30  # as the tool reads of one result
DAMAGE = (AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError, struct.error)


def read_bytes(file):
    """The content of a file. Raises ValueError for what is no regular file, and for one that is too large."""
    if not file.is_file():
        raise ValueError(f"'{file}' is no regular file")
    if file.stat().st_size > MOST_BYTES:
        raise ValueError(f"'{file}' has {file.stat().st_size} bytes; at most {MOST_BYTES} are read")
    return file.read_bytes()


def read_text(file):
    """Reads it as text."""
    return read_bytes(file).decode("utf-8")


def read_json(file):
    """Reads it as JSON. Raises ValueError for text that is none."""
    with refused(f"'{file}' is no JSON that can be read"):
        return json.loads(read_text(file))


@contextlib.contextmanager
def refused(sentence):
    """Makes one kind of error, a ValueError that begins with the sentence, of whatever damaged content leads to."""
    try:
        yield
    except DAMAGE as problem:
        raise ValueError(f"{sentence}: {problem or type(problem).__name__}") from problem


def refuses(sentence):
    """Applies `refused` to a function."""
    def wrap(function):
        @functools.wraps(function)
        def refusing(*arguments, **named):
            with refused(sentence):
                return function(*arguments, **named)
        return refusing
    return wrap
