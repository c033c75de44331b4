# SPDX-License-Identifier: MIT
"""Configuration of MkDocs for this repository: which pages there are, their order, and where links between them lead.

Pages are docs/*.md as they are, the pages in the root, and each file of the sources that one of these links to. The navigation is
the table under "Documentation" in README.md. Markdown is written for GitHub; `dialect` writes it for Python-Markdown.
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools/checks"))
from doc_anchors import LINK, anchor_of, without_code  # noqa: E402

# A page in the root, and its place in the site.
ROOT_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LANGUAGES = {".cc": "cpp", ".h": "cpp", ".py": "python", ".sh": "sh", ".yaml": "yaml"}
ASSETS = {"scripts/site/site.css": "assets/site.css", "scripts/site/worker.js": "assets/worker.js"}
DOWNLOADS = {".ipynb", ".json"}   # for other programs to open; copied as they are
FENCED = re.compile(r"(^ *```.*?^ *```[^\S\n]*$)", re.M | re.S)
STARTS_A_BLOCK = re.compile(r"([-*+]|\d+[.)]) |\|")


def place(path):
    """Where a file of the repository is in the site, as MkDocs names a source: 'docs/gpu.md' is 'gpu.md'."""
    path = path.as_posix()
    if path in ROOT_PAGES:
        return ROOT_PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"sources/{path}" + ("" if pathlib.Path(path).suffix in DOWNLOADS else ".md")


def source(src_uri):
    """The file of the repository that a page comes from."""
    for path, uri in ROOT_PAGES.items():
        if uri == src_uri:
            return pathlib.Path(path)
    return pathlib.Path("docs") / src_uri


def links(text, page):
    """(start, end, file of the repository, #anchor) of each relative link of a page."""
    for match in LINK.finditer(text):
        target, _, anchor = match.group(1).partition("#")
        if target and "://" not in target and not target.startswith("mailto:"):
            file = pathlib.Path(os.path.normpath(page.parent / target))
            yield match.start(1), match.end(1), file, f"#{anchor}" if anchor else ""


def relinked(text, page):
    """The text with links that lead to places in the site."""
    here = pathlib.Path(place(page)).parent
    for start, end, file, anchor in reversed(list(links(text, page))):
        text = text[:start] + pathlib.Path(os.path.relpath(place(file), here)).as_posix() + anchor + text[end:]
    return text


def dialect(text):
    """Python-Markdown wants a blank line before a list or a table, and no escaped bars in the code of a table's cell."""
    lines, before = [], ""
    for line in text.split("\n"):
        if STARTS_A_BLOCK.match(line) and before.strip() and not STARTS_A_BLOCK.match(before) and not before.startswith(" "):
            lines.append("")
        if line.startswith("|"):
            line = re.sub(r"`[^`]*`", lambda code: code.group().replace("\\|", "|"), line)
        lines.append(line)
        before = line
    return "\n".join(lines)


def site_markdown(text, page):
    """A page as the site has it, with blank lines around blocks of code."""
    return "".join(f"\n{part}\n" if FENCED.match(part) else dialect(relinked(part, page)) for part in FENCED.split(text))


def navigation(readme):
    """The rows of README's table of documents: [{group: [{title: page}, …]}, …]."""
    table = readme.split("\n## Documentation\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| *([^|]+?) *\| *(\[.*\)) *\|$", table, re.M)
    return [{"Home": "index.md"}, *({group: [{title: place(pathlib.Path(target))} for title, target in re.findall(r"\[([^]]+)\]\(([^)]+)\)", cell)]}
                                    for group, cell in rows)]


def on_config(config):
    config.nav = navigation((ROOT / "README.md").read_text(encoding="utf-8"))
    config.mdx_configs["toc"]["slugify"] = lambda heading, separator: anchor_of(heading)   # anchors are GitHub's
    return config


def on_files(files, config):
    from mkdocs.structure.files import File, InclusionLevel
    for path, uri in {**ROOT_PAGES, **ASSETS}.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / path)))
    linked = {file for page in files.documentation_pages() for _, _, file, _ in
              links(without_code(pathlib.Path(page.abs_src_path).read_text(encoding="utf-8")), source(page.src_uri))}
    for file in sorted(linked):
        if not (ROOT / file).is_file() or place(file) in files.src_uris:
            continue   # MkDocs says of links that lead nowhere
        if place(file).endswith(".md"):
            text = (ROOT / file).read_text(encoding="utf-8")
            files.append(File.generated(config, place(file), content=f"---\nsearch: {{exclude: true}}\n---\n# {file.name}\n\n`{file}`\n\n"
                                                                     f"````{LANGUAGES.get(file.suffix, 'text')}\n{text}````\n", inclusion=InclusionLevel.NOT_IN_NAV))
        else:
            files.append(File.generated(config, place(file), abs_src_path=str(ROOT / file)))
    return files


def on_page_markdown(markdown, page, config, files):
    if page.file.src_uri == "index.md":
        page.meta["hide"] = ["navigation"]
    if page.file.src_uri.startswith("sources/"):
        return markdown
    return site_markdown(markdown, source(page.file.src_uri))


def on_post_build(config):
    """The index of the search once more, as a script: a page that was opened from a folder may not read other files."""
    search = pathlib.Path(config.site_dir) / "search"
    (search / "search_index.js").write_text("var __index = " + (search / "search_index.json").read_text(encoding="utf-8"), encoding="utf-8")
