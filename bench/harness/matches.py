"""Which work is done, by whom."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Contestant:
    name: str
    driver: str  # a key of what the caller built
    variant: str = "default"
    workers: int = 0  # 0: as many as the match has
    processes: int = 0
    work: str = ""  # empty: that of the match
    kind: str = ""  # of the lock, where kinds are compared; a peer's equivalent has the same


@dataclasses.dataclass(frozen=True)
class Match:
    part: str  # its letter in `holdfast bench --help`
    title: str
    contestants: tuple
    work: str = "distinct"
    processes: int = 1
    workers: int = 1
    critical_us: int = 0
    nodes: int = 1
    core: int = None  # where servers and contestants are pinned, if anywhere
    fault: str = ""  # dead, silent or slow
    seconds: float = 0  # a round takes at least so long
    memory: bool = False  # whether it is looked at
    peers_warm_up: float = 0  # seconds that a peer's first round takes at least


FLOOR = Contestant("floor: hiredis, SET NX PX + release script", "ours", "floor")
HOLDFAST = Contestant("Holdfast", "ours", "holdfast")
OURS = (
    HOLDFAST,
    Contestant("Holdfast, no fencing", "ours", "plain"),
    Contestant("Holdfast, release not awaited", "ours", "unawaited"),
    Contestant("Holdfast, neither", "ours", "plain-unawaited"),
)
NO_SPIN = Contestant("Holdfast, spinning off", "ours", "no-spin")
ASLEEP = Contestant("threads that only sleep", "ours", "asleep")
FAIR = Contestant("Holdfast, fair", "ours", "fair")
REDISSON = Contestant("Redisson", "redisson")
REDSYNC = Contestant("redsync", "redsync")
RUEIDISLOCK = Contestant("rueidislock", "rueidislock")
NODE_REDLOCK = Contestant("node-redlock", "node-redlock")
REDIS_PY = Contestant("redis-py", "redis-py")
# By kind: the variant, and what a table adds to the names of Holdfast and of Redisson, which has no
# election.
KINDS = {
    "mutex": ("holdfast", "", ""),
    "reading": ("reading", ", shared mutex, reading", ", RReadWriteLock, reading"),
    "writing": ("writing", ", shared mutex, writing", ", RReadWriteLock, writing"),
    "semaphore": ("semaphore:16", ", semaphore of 16", ", RPermitExpirableSemaphore of 16"),
    "two keys": ("two-keys", ", two keys at once", ", RedissonMultiLock of two keys"),
    "election": ("election", ", election", None),
    "latch": ("latch", ", latch, a count", ", RCountDownLatch, a count"),
}
PEERS = (REDISSON, REDSYNC, RUEIDISLOCK, NODE_REDLOCK, REDIS_PY)
QUORUM_PEERS = (REDSYNC, NODE_REDLOCK)
PEER_DRIVERS = tuple(peer.driver for peer in PEERS)


def polling(peer):
    return dataclasses.replace(peer, name=f"{peer.name}, polling every 5 ms", variant="poll")


def _alone():
    return [Match("a", "one thread, uncontended, one server; all on one core",
                  (FLOOR, *OURS, *PEERS), core=0)]


def _distinct():
    return [Match("b", f"{count} threads or tasks in one process, each on a key of its own",
                  (FLOOR, *OURS, *PEERS), workers=count) for count in (1, 8, 64, 256)]


def _rings(processes):
    """The bound for processes that wake each other through a server."""
    ring = Contestant("ring: PUBLISH to the next process", "ours", f"ring:{processes}")
    return (ring, dataclasses.replace(ring, name=f"{ring.name}, not awaited",
                                      variant=f"ring-unawaited:{processes}"))


def _contended(quick):
    floor = dataclasses.replace(FLOOR, name="floor: hiredis, one thread, nobody waiting",
                                workers=1, processes=1)
    peers = (REDISSON, RUEIDISLOCK, REDSYNC, polling(REDSYNC), NODE_REDLOCK,
             polling(NODE_REDLOCK), REDIS_PY, polling(REDIS_PY))
    many = 8 if quick else 64

    def field(processes, workers):
        rings = _rings(processes) if workers == 1 else ()
        # 64 virtual machines take 6 GB, and on two busy cores 105 s to start; they handed over
        # 0 to 3 times a second, so that it took 9 to 31 s until the last had its turn.
        left = peers[1:] if processes == many else peers
        return (floor, *rings, HOLDFAST, OURS[2], *left)

    return [Match("d", f"one key, {processes} processes of {workers} threads or tasks, "
                  f"critical section of {critical} us", field(processes, workers), "shared",
                  processes, workers, critical)
            for processes, workers in ((1, 16), (4, 1), (16, 1), (many, 1), (4, 4))
            for critical in (0, 100)]


def _waiters(quick):
    """A round is long enough for each of them to come to its turn."""
    processes, threads, seconds = (4, 25, 0) if quick else (100, 100, 3)

    def crowd(who, workers):
        return dataclasses.replace(who, name=f"{who.name}, {processes * workers:,} waiters",
                                   workers=workers)

    field = [crowd(who, workers) for who in (ASLEEP, HOLDFAST, FAIR) for workers in (1, threads)]
    return [Match("g", f"one key, {processes} processes: a thread each, and {threads} threads each",
                  tuple(field), "shared", processes, threads, seconds=seconds, memory=True)]


def _spinning():
    return [Match("h", f"with and without spinning: one key, {processes} processes of {workers} "
                  f"threads, critical section of {critical} us", (HOLDFAST, NO_SPIN), "shared",
                  processes, workers, critical)
            for processes, workers in ((1, 16), (4, 4), (16, 1)) for critical in (20, 50, 100)]


def _of_kind(kind, work=""):
    """Holdfast, and Redisson's equivalent."""
    variant, name, peer = KINDS[kind]
    field = [dataclasses.replace(HOLDFAST, name=HOLDFAST.name + name, variant=variant, kind=kind,
                                 work=work)]
    if peer is not None:
        field.append(dataclasses.replace(
            REDISSON, name=REDISSON.name + peer, kind=kind, work=work,
            variant="default" if kind == "mutex" else variant))
    return field


def _ours_first(pairs):
    """Nearest to what it is compared with most closely."""
    return tuple(sorted((who for pair in pairs for who in pair),
                        key=lambda who: who.driver != HOLDFAST.driver))


def _kinds():
    # For its first ten seconds Redisson grew faster from round to round, several virtual machines on
    # one busy core: it would be measured while it is still being compiled.
    warm_up = 15
    each = _ours_first(map(_of_kind, KINDS))
    several = _ours_first([_of_kind("mutex")]
                          + [_of_kind(kind, "together") for kind in ("reading", "semaphore")])
    return [
        Match("j", "kinds of locks: one thread, uncontended, one server; all on one core",
              (FLOOR, *each), core=0, peers_warm_up=warm_up),
        Match("j", "kinds of locks: 16 threads in one process; mutexes with a key each, readers "
              "and permits of one key", several, workers=16, peers_warm_up=warm_up),
    ]


def _quorum():
    field = (FLOOR, *OURS, *QUORUM_PEERS)
    one_of_five = field[1:]  # hiredis would wait for ever
    contended = (HOLDFAST, *QUORUM_PEERS, *map(polling, QUORUM_PEERS))
    slow = "1 ms added to every round trip"
    return [
        Match("e", "five servers, one thread, uncontended", field, nodes=5),
        Match("e", f"five servers, one thread, {slow}", field, nodes=5, fault="slow"),
        Match("e", "five servers, one thread, one server dead", one_of_five, nodes=5,
              fault="dead"),
        Match("e", "five servers, one thread, one server silent", one_of_five, nodes=5,
              fault="silent"),
        Match("e", "five servers, one key, 16 threads or tasks in one process", contended,
              "shared", workers=16, nodes=5),
        Match("e", "five servers, one key, 4 processes of one thread or task", contended,
              "shared", processes=4, nodes=5),
    ]


def everything(quick):
    """quick: with fewer processes, where there are very many."""
    return (_alone() + _distinct() + _contended(quick) + _quorum() + _waiters(quick) + _spinning()
            + _kinds())


def server():
    """What `holdfast bench server` measures, by drivers that stay: for many short turns of two
    builds."""
    return [Match("before", f"{count} threads, a key each, one server; all on one core",
                  (FLOOR, *OURS), workers=count, core=0) for count in (1, 64)]


def beside(match, labels):
    """The match with other builds of Holdfast in it, each right after what it is compared with."""
    alone = match.work == "distinct"
    field = []
    for who in match.contestants:
        field.append(who)
        kind = who.kind and who.driver == HOLDFAST.driver
        comparable = kind or who in OURS if alone else who.variant in ("holdfast", "fair")
        if comparable and match.nodes == 1:
            field += [dataclasses.replace(who, driver=f"beside {label}",
                                          name=who.name.replace(HOLDFAST.name, label, 1))
                      for label in labels]
    return dataclasses.replace(match, contestants=tuple(field))
