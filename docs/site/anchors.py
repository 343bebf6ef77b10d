# SPDX-License-Identifier: BSL-1.0
# Where links into a document may lead: the anchors of its headings, named as GitHub names them, and those it sets itself.
import re

HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")
FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
SET = re.compile(r'<a id="([^"]+)">')


def slug(heading):
    """The anchor of a heading, in Markdown or plain: lower case, no punctuation, a hyphen for each space."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


class Slugs:
    """The anchors of a document's headings in their order; of equal ones the second ends in -1, as GitHub has it."""

    def __init__(self):
        self.times = {}

    def next(self, heading):
        """The anchor of the next heading."""
        name = slug(heading)
        again = self.times.get(name, 0)
        self.times[name] = again + 1
        return f"{name}-{again}" if again else name


def anchors(text):
    """All anchors of a document in Markdown."""
    slugs, found, fence = Slugs(), set(), None
    for line in text.splitlines():
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence):
                fence = None
        elif mark:
            fence = mark[1]
        else:
            if heading := HEADING.match(line):
                found.add(slugs.next(heading[1]))
            found.update(SET.findall(line))
    return found
