"""Draws what a run found as bars, in SVG: readable on light and on dark ground, in whatever font the
reader has.

usage: python3 bench/harness/picture.py build/bench.json doc/performance.svg
"""
import json
import pathlib
import sys
from xml.sax.saxutils import escape

# Which tables, by the start of their titles, and what a reader in a hurry should call them.
PANELS = {
    "one thread, uncontended, one server; all on one core":
        "One thread, nobody else: lock + unlock per second",
    "64 threads or tasks in one process, each on a key of its own":
        "64 threads, a key each: lock + unlock per second",
    "one key, 1 processes of 16 threads or tasks, critical section of 0 us":
        "One key, 16 threads: hand-overs per second",
    "one key, 16 processes of 1 threads or tasks, critical section of 0 us":
        "One key, 16 processes: hand-overs per second",
}

WIDTH, NAMES, NUMBERS = 760, 300, 110  # of the picture, of the names, of the numbers
ROW, BAR, HEAD = 22, 14, 44

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600 } .small { font-size: 11px }
.ours { fill: #1a7f64 } .floor { fill: #8c959f } .peer { fill: #b08a4a }
@media (prefers-color-scheme: dark) {
  text { fill: #d0d7de }
  .ours { fill: #3fb68b } .floor { fill: #6e7681 } .peer { fill: #c69c52 }
}
"""


def _kind(name):
    if name.startswith("Holdfast"):
        return "ours"
    return "floor" if name.startswith(("floor", "ring")) else "peer"


def _number(row):
    return f'{row["value"]:,.0f} ({100 * (row["spread"] or 0):.0f} %)'


def _caption(record, top):
    machine = record["machine"]
    return (f'<text class="small" x="8" y="{top + 24}">{machine["cores"]} cores, '
            f'{escape(machine["processor"])}; medians of {record["rounds"]} rounds, taken in turns, '
            f'and in brackets their spread (quartiles)</text>')


def _row(row, longest, top):
    length = (WIDTH - NAMES - NUMBERS) * row["value"] / longest
    middle = top + ROW / 2 + 4.5
    return (f'<text x="{NAMES - 8}" y="{middle}" text-anchor="end">{escape(row["name"])}</text>'
            f'<rect class="{_kind(row["name"])}" x="{NAMES}" y="{top + (ROW - BAR) / 2}" '
            f'width="{max(length, 1):.1f}" height="{BAR}" rx="2"/>'
            f'<text x="{NAMES + max(length, 1) + 6:.1f}" y="{middle}">{_number(row)}</text>')


def _panel(title, rows, top):
    """The panel and where the next one begins."""
    longest = max(row["value"] for row in rows) or 1
    lines = [f'<text class="title" x="8" y="{top + HEAD - 14}">{escape(title)}</text>']
    lines += [_row(row, longest, top + HEAD + n * ROW) for n, row in enumerate(rows)]
    return lines, top + HEAD + len(rows) * ROW


def draw(record):
    """The document of `holdfast bench` as a picture."""
    lines, top = [], 0
    for begin, title in PANELS.items():
        for part in record["parts"]:
            if part["title"].startswith(begin) and part["contestants"]:
                more, top = _panel(title, part["contestants"], top)
                lines += more
    lines.append(_caption(record, top))
    height = top + 36
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img">',
        "<title>Holdfast beside its floor and its peers</title>",
        f"<style>{STYLE}</style>", *lines, "</svg>", ""])


if __name__ == "__main__":
    source, target = map(pathlib.Path, sys.argv[1:])
    target.write_text(draw(json.loads(source.read_text())))
