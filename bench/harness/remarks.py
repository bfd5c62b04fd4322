"""What a table is made for: Holdfast beside another contestant, round by round."""
from . import compare
from .matches import HOLDFAST, NO_SPIN, PEER_DRIVERS


def of(match, results):
    """Dictionaries: of, to, what, and the median of the pairs with its interval."""
    if NO_SPIN in match.contestants:
        return _spinning(results)
    found = _besides(match, results) + _kinds(results)
    own = next((who for who in results if who == HOLDFAST), None)
    if match.work == "shared" and own:
        found += _best_peer(results, own) + _rings(results, own)
    return found + (_flat(match, results) if match.memory else [])


def text(remarks):
    return "\n".join(_line(each) for each in remarks)


def _line(remark):
    line = f"  {remark['of']}, to {remark['to']}: {remark['what']} {_number(remark['median'])}"
    if remark["pairs"] > 1:
        sure = "95 % sure" if remark["sure"] else "lowest and highest"
        line += (f" ({_number(remark['low'])} to {_number(remark['high'])}, {sure}, "
                 f"{remark['pairs']} pairs)")
    return line


def _number(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3f}"


def _remark(own, other, what, found):
    return [{"of": own, "to": other, "what": what, **found}] if found else []


def _hand_overs(results, own, other, role=""):
    return _remark(own.name, role + other.name, "hand-overs x",
                   compare.ratios(results[own].handed, results[other].handed))


def _besides(match, results):
    """Other builds. The time of a cycle where nobody waits."""
    found = []
    for other in results:
        own = next((who for who in results if who.driver == "ours"
                    and other.driver.startswith("beside")
                    and (who.variant, who.workers) == (other.variant, other.workers)), None)
        if own and match.work == "shared":
            found += _hand_overs(results, own, other)
        elif own:
            found += _cycles(results, own, other)
    return found


def _cycles(results, own, other):
    """Whatever else runs on the machine takes its time from the first, hardly from the others."""
    ours, theirs = results[own], results[other]
    return (_remark(own.name, other.name, "time x",
                    compare.ratios(theirs.per_second, ours.per_second))
            + _remark(own.name, other.name, "median cycle x",
                      compare.ratios(ours.middle, theirs.middle))
            + _remark(own.name, other.name, "processor time, with the server's, x",
                      compare.ratios(ours.processor, theirs.processor)))


def _kinds(results):
    """Each beside the mutex, and beside the peer's equivalent."""
    own = [who for who in results if who.driver == HOLDFAST.driver and who.kind]
    mutex = next((who for who in own if who.kind == "mutex"), None)
    found = []
    for who in own:
        if mutex and who != mutex:
            found += _cycles(results, who, mutex)
        for peer in results:
            if peer.driver in PEER_DRIVERS and peer.kind == who.kind:
                found += _remark(who.name, peer.name, "cycles x", compare.ratios(
                    results[who].per_second, results[peer].per_second))
    return found


def _best_peer(results, own):
    peers = [who for who in results if who.driver in PEER_DRIVERS]
    if not peers:
        return []
    best = max(peers, key=lambda who: results[who].summary()["handed_per_second"])
    return _hand_overs(results, own, best, "the best peer, ")


def _rings(results, own):
    return [remark for who in results if who.variant.startswith("ring")
            for remark in _hand_overs(results, own, who)]


def _spinning(results):
    """Cores, not ratios: what nobody asked for is counted in whole ones."""
    if not {HOLDFAST, NO_SPIN} <= results.keys():
        return []
    own, without = results[HOLDFAST], results[NO_SPIN]
    return [remark for what, name in (("cores more", "cores"),
                                      ("cores more beside its critical sections", "idle_cores"))
            for remark in _remark(HOLDFAST.name, NO_SPIN.name, what, compare.differences(
                getattr(own, name), getattr(without, name)))]


def _flat(match, results):
    """The most waiters of each variant beside the fewest."""
    found = []
    kinds = {(who.driver, who.variant): [] for who in results}
    for who in results:
        kinds[who.driver, who.variant].append(who)
    for crowds in kinds.values():
        if len(crowds) == 2:
            found += _flat_pair(match.processes, results, *crowds)
    return found


def _flat_pair(processes, results, few, many):
    more = processes * (many.workers - few.workers)
    small, large = results[few].summary(), results[many].summary()

    def each(name):
        return compare.median([(large[name] - small[name]) / more])

    return (_remark(many.name, few.name, "time for a hand-over x",
                    compare.ratios(results[few].handed, results[many].handed))
            + _remark(many.name, few.name, "bytes of its process for a further waiter, with its "
                      "thread", each("memory_bytes"))
            + _remark(many.name, few.name, "bytes of the server for a further waiter",
                      each("server_memory_bytes")))
