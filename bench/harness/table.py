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
    shared = match.work == "shared"
    head = (f"{'':44} {'handed/s' if shared else 'per second':>10} {'spread':>6} {'x floor':>8} "
            f"{'x ours':>8} {('wait' if shared else 'cycle') + ' p50':>10} {'p99':>9} {'max':>9} us ")
    head += (f"{'p99/p50':>7} {'scripts':>7} {'commands':>8} {'pushes':>6} {'server us':>9} "
             f"{'best':>6} {'worst':>6} {'cycles/s':>9} {'cores':>5}" if shared else
             f"{'commands':>8} {'server us':>9}")
    if match.memory:
        head += f" {'MB':>6} {'server MB':>9}"
    return "\n".join([f"\n{match.title}", head] + [_line(match, row) for row in table])


def _line(match, row):
    line = (f"{row['name']:44} {row['value']:10.0f} {100 * row['spread']:5.0f}% "
            f"{_number(row['to_floor'])} {_number(row['to_holdfast'])} "
            f"{row['p50_us']:10.0f} {row['p99_us']:9.0f} {row['max_us']:9.0f}    ")
    line += _shared(row) if match.work == "shared" else (
        f"{row['commands']:8.1f} {row['server_us']:9.1f}")
    if match.memory:
        line += f" {row['memory_bytes'] / 1e6:6.0f} {row['server_memory_bytes'] / 1e6:9.1f}"
    return line


def _shared(row):
    """Whose cost is for a hand-over; the floor, which has none, gives that for a cycle."""
    each = row["for_a_hand_over"] or {"commands": row["commands"], "server_us": row["server_us"]}
    return (f"{_number(row['p99_to_p50'], 7, 1)} {_number(each.get('scripts'), 7, 2)} "
            f"{_number(each['commands'], 8, 1)} {_number(each.get('pushes'), 6, 2)} "
            f"{each['server_us']:9.1f} {row['best_process']:6.2f} {row['worst_process']:6.2f} "
            f"{row['per_second']:9.0f} {row['cores']:5.2f}")


def _number(value, width=8, places=3):
    return f"{'-':>{width}}" if value is None else f"{value:{width}.{places}f}"
