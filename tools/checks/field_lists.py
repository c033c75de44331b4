#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that every member of a struct with a field list (base/archive.h) is in that list, so that no field is lost on its way through JSON.

usage: field_lists.py [--root DIR]     exit 1 and one line a member that is missing

A member that is not stored says so in its comment: "not stored".
"""
import argparse
import pathlib
import re
import sys

LIST = re.compile(r"void fields\(A& a, (?:(\w+)::)*(\w+)& t\) \{(.*?)^\}", re.M | re.S)
NAMES = re.compile(r"^PACELINE_FIELDS\((?:(\w+)::)*(\w+),(.*?)\);", re.M | re.S)
NAMESPACE = re.compile(r"^namespace (?:paceline::)?(\w+) \{", re.M)
STRUCT = re.compile(r"^(?:struct|class) (\w+)(?: : \w+)? \{\n(.*?)^\};", re.M | re.S)
FUNCTION = re.compile(r"\b(operator|static|friend|using|virtual|explicit|template)\b|\)\s*(const)?\s*(\{|;)|^\s*[A-Z]\w*\(")


def members(body):
    """Names of the data members of a struct's body, without those of nested types."""
    lines, depth = [], 0
    for line in body.split("\n"):
        code, _, comment = line.partition("//")
        if depth == 0 and "not stored" not in comment:
            lines.append(code)
        depth += code.count("{") - code.count("}")
        depth = max(depth, 0)
    text = " ".join(lines)
    while (shorter := re.sub(r"\{[^{}]*\}", "", text)) != text:
        text = shorter
    for statement in text.split(";"):
        statement = re.sub(r"\[\[\w+\]\]", "", statement).strip()
        if not statement or FUNCTION.search(statement + ";") or statement.startswith(("struct", "enum", "class", "public:", "private:")):
            continue
        declared = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*(<[^<>]*>[^<>]*)*>", "", statement))
        match = re.match(r"(?:const )?(?:std::)?[\w:]+[&*]* (.*)$", declared, re.S)
        if not match:
            continue
        for part in match.group(1).split(","):
            name = re.match(r"\s*(\w+)", part)
            if name:
                yield name.group(1)


def namespace_at(text, position):
    names = [m.group(1) for m in NAMESPACE.finditer(text, 0, position)]
    return names[-1] if names else ""


def findings(root):
    sources = sorted(p for room in ("src", "plugins") if (root / room).exists() for p in (root / room).rglob("*") if p.suffix in (".h", ".cc"))
    structs, lists = {}, {}
    for path in sources:
        text = path.read_text()
        for found in STRUCT.finditer(text):
            structs[namespace_at(text, found.start()), found.group(1)] = (path, found.group(2))
        for found in [*LIST.finditer(text), *NAMES.finditer(text)]:
            within = found.group(1) if found.group(1) and found.group(1).islower() else namespace_at(text, found.start())
            lists[within, found.group(2)] = (path, found.group(3))
    for name, (path, body) in sorted(lists.items()):
        listed = set(re.findall(r"\bt\.(\w+)" if "t." in body else r"\w+", body))
        where, inside = structs.get(name, (None, ""))
        missing = [m for m in members(inside) if m not in listed]
        if missing:
            yield f"{where.relative_to(root)}: {name[1]} has {', '.join(missing)}, which the field list in {path.relative_to(root)} lacks"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    found = list(findings(parser.parse_args().root))
    print("\n".join(found) or "field_lists: every member of a stored struct is in its field list")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
