"""Two contestants, round by round: what disturbs the machine disturbs both rounds of a pair."""
import math
import statistics

CONFIDENCE = 0.95


def _rank(count):
    """How many of the lowest, and of the highest, lie outside the interval for the median. None:
    there are too few for one."""
    tail, rank = 0.0, 0
    while rank < count / 2:
        tail += math.comb(count, rank) / 2 ** count
        if 2 * tail > 1 - CONFIDENCE:
            break
        rank += 1
    return rank - 1 if rank else None


def median(values):
    """The median, and the interval in which it lies whatever the distribution: by order of rank.
    With fewer than six values that is all of them, which is less than 95 % sure."""
    if not values:
        return None
    ordered = sorted(values)
    outside = _rank(len(ordered)) or 0
    return {"median": statistics.median(ordered), "low": ordered[outside],
            "high": ordered[-1 - outside], "pairs": len(ordered),
            "sure": _rank(len(ordered)) is not None}


def ratios(ours, others):
    return median([own / other for own, other in zip(ours, others) if other > 0])


def differences(ours, others):
    return median([own - other for own, other in zip(ours, others)])
