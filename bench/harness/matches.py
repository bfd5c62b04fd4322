"""Which work is done, by whom."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Contestant:
    name: str
    driver: str  # a key of what the caller built
    variant: str = "default"
    workers: int = 0  # 0: as many as the match has
    processes: int = 0


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


FLOOR = Contestant("floor: hiredis, SET NX PX + release script", "ours", "floor")
HOLDFAST = Contestant("Holdfast", "ours", "holdfast")
OURS = (
    HOLDFAST,
    Contestant("Holdfast, no fencing", "ours", "plain"),
    Contestant("Holdfast, release not awaited", "ours", "unawaited"),
    Contestant("Holdfast, neither", "ours", "plain-unawaited"),
)
REDISSON = Contestant("Redisson", "redisson")
REDSYNC = Contestant("redsync", "redsync")
RUEIDISLOCK = Contestant("rueidislock", "rueidislock")
NODE_REDLOCK = Contestant("node-redlock", "node-redlock")
REDIS_PY = Contestant("redis-py", "redis-py")
PEERS = (REDISSON, REDSYNC, RUEIDISLOCK, NODE_REDLOCK, REDIS_PY)
QUORUM_PEERS = (REDSYNC, NODE_REDLOCK)


def polling(peer):
    return dataclasses.replace(peer, name=f"{peer.name}, polling every 5 ms", variant="poll")


def _alone():
    return [Match("a", "one thread, uncontended, one server; all on one core",
                  (FLOOR, *OURS, *PEERS), core=0)]


def _distinct():
    return [Match("b", f"{count} threads or tasks in one process, each on a key of its own",
                  (FLOOR, *OURS, *PEERS), workers=count) for count in (1, 8, 64, 256)]


def _contended():
    floor = dataclasses.replace(FLOOR, name="floor: hiredis, one thread, nobody waiting",
                                workers=1, processes=1)
    field = (floor, HOLDFAST, OURS[2], REDISSON, RUEIDISLOCK, REDSYNC, polling(REDSYNC),
             NODE_REDLOCK, polling(NODE_REDLOCK), REDIS_PY, polling(REDIS_PY))
    return [Match("d", f"one key, {processes} processes of {workers} threads or tasks, "
                  f"critical section of {critical} us", field, "shared", processes, workers,
                  critical)
            for processes, workers in ((1, 16), (16, 1), (4, 4)) for critical in (0, 100)]


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


ALL = _alone() + _distinct() + _contended() + _quorum()
