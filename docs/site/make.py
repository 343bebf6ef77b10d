#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Makes the site: a page of HTML for each document, with navigation, a search over all of them, and the files that they quote.
"""usage: make.py [FOLDER] [--check]

Writes the site into FOLDER (build/site). Each link and anchor of what was written is followed: one that leads nowhere is a failure. --check
writes into a folder that is thrown away, for the tests."""
import argparse
import html
import html.parser
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import urllib.parse

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

from anchors import SET, Slugs

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCS = ROOT / "docs"
FROM = re.compile(r"<!--\s*from:\s*([^\s#]+)(?:#[\w-]+)?\s*-->")
NUMBER = re.compile(r"^[\d.,x×±%/()-]*$")
FORMATTER = HtmlFormatter(nowrap=True)
# The order of the navigation. What is in none of the lists comes after them, in the group of its folder, so no page is lost.
GROUPS = [("Start", "", ["README.md", "docs/tutorial.md", "docs/numpy.md", "docs/explanation.md"]),
          ("How to", "docs/how-to", []),
          ("Reference", "docs/reference", ["docs/reference/expressions.md", "docs/reference/operations.md", "docs/reference/convolutions.md",
                                           "docs/reference/tensor.md",
                                           "docs/reference/session.md", "docs/reference/plan.md", "docs/reference/devices.md",
                                           "docs/errors.md", "docs/limits.md"]),
          ("Measurements", "docs/measurements", []),
          ("Decisions", "docs/adr", []),
          ("Project", "docs", ["docs/CONTRIBUTING.md", "docs/CHANGELOG.md"])]
FOLDED = {"Measurements", "Decisions"}


def target_of(path):
    """Where a file of the repository lies in the site: a document as a page, a picture as it is, else as a page of its text."""
    name = path.relative_to(ROOT).as_posix()
    if name == "README.md":
        return "index.html"
    if name.startswith("docs/") and path.suffix == ".md":
        return name[5:-3] + ".html"
    if name.startswith("docs/") and path.suffix == ".svg":
        return name[5:]
    return f"source/{name}" + ("/index.html" if path.is_dir() else ".html")


def relative(to, page):
    """The link from a page of the site to another."""
    return os.path.relpath(to, os.path.dirname(page) or ".")


def colored(text, language=None, path=None):
    """Code as HTML, colored where its language is known."""
    try:
        lexer = get_lexer_by_name({"sh": "bash", "cuda": "cpp"}.get(language, language)) if language else get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    return highlight(text, lexer, FORMATTER)


class Document:
    """A document: its tokens, title, headings and the text that is searched."""

    def __init__(self, path, markdown):
        self.path, self.url = path, target_of(path)
        self.tokens = markdown.parse(path.read_text())
        self.headings, self.sections, self.linked = [], [], []
        slugs, heading, source = Slugs(), None, None
        for k, token in enumerate(self.tokens):
            if token.type == "heading_open":
                inline = self.tokens[k + 1]
                level, anchor = int(token.tag[1]), slugs.next(inline.content)
                heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", inline.content).replace("`", "").replace("*", "")
                token.attrSet("id", anchor)
                self.headings.append((level, anchor, heading))
                self.sections.append({"a": anchor if level > 1 else "", "h": heading, "x": []})
            elif token.type == "html_block":
                quoted = FROM.search(token.content)
                source = quoted[1] if quoted else None
                token.content = "".join(re.findall(r"<a id=\"[^\"]+\"></a>", token.content))
                continue
            elif token.type == "fence":
                token.meta = {"from": source}
                if source:
                    self.linked.append(ROOT / source)
                self.say(token.content)
            elif token.type == "inline":
                self.follow(token)
                if not heading or self.tokens[k - 1].type != "heading_open":
                    self.say(" ".join(c.content for c in token.children if c.type in ("text", "code_inline")))
            source = None
        self.title = self.headings[0][2] if self.headings else path.stem
        if self.url == "index.html":
            self.title = "onto"

    def say(self, text):
        """Remembers text of a section, without numbers: nobody searches for a time."""
        if self.sections:
            self.sections[-1]["x"].append(" ".join(word for word in text.split() if not NUMBER.match(word)))

    def follow(self, token):
        """Links between files become links between pages."""
        for child in token.children:
            key = {"link_open": "href", "image": "src"}.get(child.type)
            link = child.attrGet(key) if key else None
            if not link or re.match(r"[a-z]+:", link) or link.startswith("#"):
                continue
            path, _, anchor = urllib.parse.unquote(link).partition("#")
            led_to = (self.path.parent / path).resolve()
            self.linked.append(led_to)
            child.attrSet(key, relative(target_of(led_to), self.url) + (f"#{anchor}" if anchor else ""))


def renderer():
    """Markdown as the documents use it, with our own code blocks, tables and headings."""
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")

    def fence(tokens, k, options, env):
        token, language = tokens[k], tokens[k].info.strip()
        source = (token.meta or {}).get("from")
        head = ""
        if source:
            to = relative(target_of(ROOT / source), env["page"])
            head = f'<figcaption><a href="{html.escape(to)}">{html.escape(source)}</a></figcaption>'
        code = colored(token.content, language or "text")
        return f'<figure class="code">{head}<pre><code>{code}</code></pre></figure>\n'

    rules = markdown.renderer.rules
    rules["fence"] = lambda tokens, k, options, env: fence(tokens, k, options, env)
    rules["table_open"] = lambda tokens, k, options, env: f'<div class="table{" numbers" if columns(tokens, k) > 5 else ""}"><table>'
    rules["table_close"] = lambda tokens, k, options, env: "</table></div>"
    rules["heading_close"] = lambda tokens, k, options, env: (
        f'<a class="here" href="#{tokens[k - 2].attrGet("id")}" aria-label="link to this section">#</a></{tokens[k].tag}>\n')
    return markdown


def columns(tokens, k):
    """How many columns the table has that begins at a token."""
    end = next(n for n in range(k, len(tokens)) if tokens[n].type == "tr_close")
    return sum(token.type == "th_open" for token in tokens[k:end])


def navigation(documents):
    """Groups of documents, each with its name."""
    by_name = {d.path.relative_to(ROOT).as_posix(): d for d in documents}
    groups = []
    for title, folder, first in GROUPS:
        rest = sorted(n for n in by_name if os.path.dirname(n) == folder and not any(n in f for _, _, f in GROUPS))
        groups.append((title, [by_name[n] for n in first + rest]))
    return groups


def aside(groups, page):
    """The navigation as a page shows it."""
    out = []
    for title, documents in groups:
        items = "".join(f'<li><a href="{relative(d.url, page)}"{" aria-current=page" if d.url == page else ""}>{html.escape(d.title)}</a></li>'
                        for d in documents)
        is_open = title not in FOLDED or any(d.url == page for d in documents)
        out.append(f'<details{" open" if is_open else ""}><summary>{title}</summary><ul>{items}</ul></details>')
    return "".join(out)


def contents(document):
    """The headings of a page, beside it."""
    items = [f'<li class="level{level}"><a href="#{anchor}">{html.escape(text)}</a></li>' for level, anchor, text in document.headings
             if level in (2, 3)]
    return f'<nav class="contents" aria-label="on this page"><p>On this page</p><ul>{"".join(items)}</ul></nav>' if len(items) > 1 else ""


def page(title, url, body, groups, beside=""):
    """A whole page."""
    root = relative("index.html", url)[:-len("index.html")]
    name = "onto" if title == "onto" else f"{title} · onto"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(name)}</title>
<link rel="stylesheet" href="{root}style.css">
<script src="{root}search.js" data-root="{root}" defer></script>
</head>
<body>
<header>
<label class="menu" for="menu" aria-label="pages">☰</label>
<a class="name" href="{root}index.html">onto</a>
<div class="search"><input type="search" placeholder="Search  /" aria-label="search" autocomplete="off" spellcheck="false"><ol hidden></ol></div>
</header>
<input type="checkbox" id="menu" class="menu" aria-label="pages">
<div class="columns">
<nav class="pages" aria-label="pages">{aside(groups, url)}</nav>
<main>
{body}
</main>
{beside}
</div>
</body>
</html>
"""


def listing(folder, url):
    """A page for a folder that a document links to: its files."""
    items = "".join(f'<li><a href="{relative(target_of(p), url)}">{html.escape(p.name)}{"/" if p.is_dir() else ""}</a></li>'
                    for p in inside(folder))
    return f"<h1>{html.escape(folder.relative_to(ROOT).as_posix())}</h1>\n<ul>{items}</ul>"


def inside(folder):
    """What is in a folder, without what nobody wrote."""
    return sorted(p for p in folder.iterdir() if not p.name.startswith((".", "__")))


def source(path, url):
    """A page for a file that a document quotes or links to."""
    name = html.escape(path.relative_to(ROOT).as_posix())
    return f'<h1 class="file">{name}</h1>\n<figure class="code"><pre><code>{colored(path.read_text(errors="replace"), path=path)}</code></pre></figure>'


def styles():
    """Our style sheet and the colors of code, for light screens and dark ones."""
    light, dark = (HtmlFormatter(style=s).get_style_defs("code") for s in ("xcode", "github-dark"))
    keep = re.compile(r"^code \.\w+ \{[^}]*\}.*$", re.M)
    dark = "\n".join(keep.findall(dark))
    return (HERE / "style.css").read_text() + "\n".join(keep.findall(light)) + f"\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def write(out):
    """Writes the whole site and says how many pages it has."""
    markdown = renderer()
    documents = [Document(p, markdown) for p in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]]
    groups = navigation(documents)
    files = {}
    for d in documents:
        body = markdown.renderer.render(d.tokens, markdown.options, {"page": d.url})
        files[d.url] = page(d.title, d.url, body, groups, contents(d))
    # Files that are linked, and what is in folders that are: each once, as far as the links go.
    waiting, seen = [p for d in documents for p in d.linked], set()
    while waiting:
        path = waiting.pop()
        url = target_of(path)
        if path in seen or url in files:
            continue
        seen.add(path)
        if path.is_dir():
            files[url] = page(path.name, url, listing(path, url), groups)
            waiting += inside(path)
        elif path.suffix == ".svg":
            files[url] = path.read_text()
        elif path.is_file():
            files[url] = page(path.name, url, source(path, url), groups)
    aside_of = {d.url: title in FOLDED or title == "Project" for title, listed in groups for d in listed}
    index = [{"u": d.url, "w": 0.4 if aside_of[d.url] else 1, "t": d.title, "s": [{**s, "x": " ".join(s["x"])} for s in d.sections]} for d in documents]
    files["search-index.js"] = f"window.onto_pages = {json.dumps(index, ensure_ascii=False, separators=(',', ':'))};\n"
    files["search.js"] = (HERE / "search.js").read_text()
    files["style.css"] = styles()
    for url, text in files.items():
        to = out / url
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text)
    return len(documents)


class Links(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.anchors.add(value)
            elif name in ("href", "src"):
                self.links.append(value)


def broken(out):
    """The links of a site that lead nowhere."""
    pages = {p.relative_to(out).as_posix(): Links(p.read_text()) for p in sorted(out.rglob("*.html"))}
    wrong = []
    for url, found in pages.items():
        for link in found.links:
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = urllib.parse.unquote(link).partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(url), path)) if path else url
            if not (out / to).is_file():
                wrong.append(f"{url}: the link {link} leads nowhere")
            elif anchor and to in pages and anchor not in pages[to].anchors:
                wrong.append(f"{url}: the link {link} leads to a page without that anchor")
    return wrong


def main():
    """Makes the site, follows its links."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "build" / "site")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) if arguments.check else arguments.folder
        if not arguments.check:
            shutil.rmtree(out, ignore_errors=True)
        made = write(out)
        wrong = broken(out)
    print("\n".join(wrong[:40]) if wrong else f"{made} pages" + ("" if arguments.check else f": {out}/index.html"))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
