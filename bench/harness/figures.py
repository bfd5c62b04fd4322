"""From what the drivers print to what a table shows."""
import collections
import statistics


def percentile(times, fraction):
    """Of a histogram in buckets of 2^(1/32) microseconds; the middle of the bucket."""
    rank = fraction * sum(times.values())
    for bucket in sorted(times):
        rank -= times[bucket]
        if rank <= 0:
            return 2 ** ((bucket + 0.5) / 32)
    return 0.0


def _spread(rounds):
    """The distance of the quartiles over the median."""
    middle = statistics.median(rounds)
    if len(rounds) < 2 or middle == 0:
        return 0.0
    low, _, high = statistics.quantiles(rounds, n=4)
    return (high - low) / middle


class Figures:
    """Of one contestant, over all rounds."""

    def __init__(self):
        self.per_second = []
        self.handed = []
        self.times = collections.Counter()
        self.best_shares = []  # 1 is a fair one; of each round, since luck changes sides
        self.worst_shares = []
        self.max_us = 0.0
        self.commands = 0
        self.server_seconds = 0.0

    def add(self, seconds, lines, commands, server_seconds):
        self.commands += commands
        self.server_seconds += server_seconds
        self.per_second.append(sum(line["cycles"] for line in lines) / seconds)
        self.handed.append(sum(line["handed"] for line in lines) / seconds)
        self._add_shares([share for line in lines for share in line["shares"]])
        for line in lines:
            self.max_us = max(self.max_us, line["max_us"])
            for bucket, count in line["times"].items():
                self.times[int(bucket)] += count

    def _add_shares(self, shares):
        fair = sum(shares) / len(shares)
        if fair > 0:
            self.best_shares.append(max(shares) / fair)
            self.worst_shares.append(min(shares) / fair)

    def summary(self):
        cycles = sum(self.times.values()) or 1
        return {
            "per_second": statistics.median(self.per_second),
            "handed_per_second": statistics.median(self.handed),
            "spread": _spread(self.per_second),
            "handed_spread": _spread(self.handed),
            "p50_us": percentile(self.times, 0.5),
            "p99_us": percentile(self.times, 0.99),
            "max_us": self.max_us,
            # of one server, for one cycle
            "commands": self.commands / cycles,
            "server_us": 1e6 * self.server_seconds / cycles,
            "best_share": statistics.median(self.best_shares or [0]),
            "worst_share": statistics.median(self.worst_shares or [0]),
            "rounds": self.per_second,
        }
