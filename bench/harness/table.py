"""Prints a match."""


def rows(match, results):
    """One dictionary for each contestant: its figures, and its ratios to the floor and to us."""
    summaries = {who.name: figures.summary() for who, figures in results.items()}
    floor = next((n for n in summaries if n.startswith("floor")), None)
    for name, row in summaries.items():
        row["name"] = name
        row["value"] = row[_measure(match, name)]
        handed = row.pop("handed_spread")
        if _measure(match, name) == "handed_per_second":
            row["spread"] = handed  # of what is shown
        row["unit"] = "handed over per second" if match.work == "shared" else "per second"
    for row in summaries.values():
        row["to_floor"] = _ratio(row, summaries.get(floor))
        row["to_holdfast"] = _ratio(row, summaries.get("Holdfast"))
    return list(summaries.values())


def _measure(match, name):
    """Of a shared lock hand-overs count; the floor is alone, and has none."""
    alone = name.startswith("floor")
    return "handed_per_second" if match.work == "shared" and not alone else "per_second"


def _ratio(row, other):
    return row["value"] / other["value"] if other and other["value"] else None


def text(match, table):
    what = "wait" if match.work == "shared" else "cycle"
    measure = "handed/s" if match.work == "shared" else "per second"
    head = (f"{'':44} {measure:>10} {'spread':>6} {'x floor':>8} {'x ours':>8} "
            f"{what + ' p50':>10} {'p99':>9} {'max':>9} us {'commands':>8} {'server us':>9}")
    if match.work == "shared":
        head += f" {'best':>6} {'worst':>6} {'cycles/s':>9}"
    return "\n".join([f"\n{match.title}", head] + [_line(match, row) for row in table])


def _line(match, row):
    line = (f"{row['name']:44} {row['value']:10.0f} {100 * row['spread']:5.0f}% "
            f"{_number(row['to_floor'])} {_number(row['to_holdfast'])} "
            f"{row['p50_us']:10.0f} {row['p99_us']:9.0f} {row['max_us']:9.0f}    "
            f"{row['commands']:8.1f} {row['server_us']:9.1f}")
    if match.work == "shared":
        line += f" {row['best_share']:6.2f} {row['worst_share']:6.2f} {row['per_second']:9.0f}"
    return line


def _number(value):
    return f"{'-':>8}" if value is None else f"{value:8.3f}"
