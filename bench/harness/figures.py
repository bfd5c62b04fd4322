"""From what the drivers print to what a table shows."""
import collections
import dataclasses
import statistics


def percentile(times, fraction):
    """Of a histogram in buckets of 2^(1/32) microseconds, each of which is taken to be filled evenly:
    so two medians can be told apart that lie in one bucket."""
    rank = fraction * sum(times.values())
    for bucket in sorted(times):
        if rank <= times[bucket]:
            return 2 ** ((bucket + rank / (times[bucket] or 1)) / 32)
        rank -= times[bucket]
    return 0.0


def _spread(rounds):
    """The distance of the quartiles over the median."""
    middle = statistics.median(rounds)
    if len(rounds) < 2 or middle == 0:
        return 0.0
    low, _, high = statistics.quantiles(rounds, n=4)
    return (high - low) / middle


class Figures:
    """Of one contestant, over all rounds. critical: seconds that each holds the lock."""

    def __init__(self, critical=0.0):
        self._critical = critical
        self.per_second = []
        self.handed = []
        self.times = collections.Counter()
        self.middle = []  # the median of the times of each round
        self.shares = _Shares()
        self.process_shares = _Shares()  # of workers, where there is one process only
        self.max_us = 0.0
        self.server = collections.Counter()  # what one server spent
        self.processor = []  # seconds of contestant and server, for one cycle
        self.cores = []  # processor time of the contestant over time
        self.idle_cores = []  # the same without what its critical sections take
        self.memory = []  # (bytes of the contestant, bytes of the server), in the middle of a round

    def add(self, seconds, lines, spent):
        """What the processes printed; and what was spent meanwhile, a Cost."""
        self.per_second.append(sum(line["cycles"] for line in lines) / seconds)
        self.handed.append(sum(line["handed"] for line in lines) / seconds)
        self.shares.add([share for line in lines for share in line["shares"]])
        self.process_shares.add([line["cycles"] for line in lines] if len(lines) > 1
                                else lines[0]["shares"])
        self.max_us = max([self.max_us, *(line["max_us"] for line in lines)])
        times = collections.Counter()
        for line in lines:
            times.update({int(bucket): count for bucket, count in line["times"].items()})
        self.times.update(times)
        self.middle.append(percentile(times, 0.5))
        self._add_cost(sum(times.values()), spent)

    def _add_cost(self, cycles, spent):
        self.processor.append((spent.processor + spent.server["seconds"]) / (cycles or 1))
        self.server.update(spent.server)
        self.cores.append(spent.processor / spent.seconds)
        self.idle_cores.append((spent.processor - cycles * self._critical) / spent.seconds)
        if spent.memory:
            self.memory.append(spent.memory)

    def summary(self):
        cycles = sum(self.times.values()) or 1
        counted = sum(self.per_second) or 1
        p50, p99 = percentile(self.times, 0.5), percentile(self.times, 0.99)
        return {
            "per_second": statistics.median(self.per_second),
            "handed_per_second": statistics.median(self.handed),
            "spread": _spread(self.per_second),
            "handed_spread": _spread(self.handed),
            "p50_us": p50,
            "p99_us": p99,
            "p99_to_p50": p99 / p50 if p50 else None,
            "max_us": self.max_us,
            # of one server, for one cycle
            "commands": self.server["commands"] / cycles,
            "server_us": 1e6 * self.server["seconds"] / cycles,
            # cycles that the end of a round cut off cost as much as those that it counts
            "for_a_hand_over": self._for_each(cycles * sum(self.handed) / counted),
            "best_share": self.shares.best(),
            "worst_share": self.shares.worst(),
            "best_process": self.process_shares.best(),
            "worst_process": self.process_shares.worst(),
            "cores": statistics.median(self.cores),
            "idle_cores": statistics.median(self.idle_cores),
            **self._memory(),
            "rounds": self.per_second,
            "handed_rounds": self.handed,
        }

    def _for_each(self, hand_overs):
        """What one server did; None where nothing was handed over."""
        if hand_overs < 1:
            return None
        return {**{name: self.server[name] / hand_overs
                   for name in ("scripts", "commands", "pushes")},
                "server_us": 1e6 * self.server["seconds"] / hand_overs}

    def _memory(self):
        if not self.memory:
            return {}
        own, server = map(max, zip(*self.memory))
        return {"memory_bytes": own, "server_memory_bytes": server}


class _Shares:
    """Where 1 is fair; of each round, since luck changes sides."""

    def __init__(self):
        self._best, self._worst = [], []

    def add(self, shares):
        fair = sum(shares) / len(shares)
        if fair > 0:
            self._best.append(max(shares) / fair)
            self._worst.append(min(shares) / fair)

    def best(self):
        return statistics.median(self._best or [0])

    def worst(self):
        return statistics.median(self._worst or [0])


@dataclasses.dataclass
class Cost:
    """Of one contestant in one round."""
    seconds: float  # from its beginning until the last process was done
    processor: float  # seconds of it, of the contestant
    server: dict  # of one server: see Server.spent
    memory: tuple = None
