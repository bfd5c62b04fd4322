"""Benchmarks the lock of redis-py. The protocol is in the README of the directory above."""
import collections
import json
import math
import os
import sys
import threading
import time

import redis

variant, work, workers, critical_us, last, key, url = sys.argv[1:8]
workers, critical = int(workers), float(critical_us) / 1e6
server = redis.Redis.from_url(url, max_connections=workers + 1)
last_holder = os.open(last, os.O_RDWR) if work == "shared" else -1
sleep = {"poll": 0.005}.get(variant, 0.1)


class Worker:
    def __init__(self, number):
        name = key if work == "shared" else f"{key}:{os.getpid()}:{number}"
        self.name = (os.getpid() * 65536 + number).to_bytes(8, "little")
        self.lock = server.lock(name, timeout=30, sleep=sleep)

    def round(self, gate, seconds):
        self.cycles, self.handed, self.longest, self.times = 0, 0, 0.0, collections.Counter()
        gate.wait()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            self.cycle(end)

    def cycle(self, end):
        begin = time.perf_counter()
        self.lock.acquire()
        taken = time.perf_counter()
        other = work == "shared" and os.pread(last_holder, 8, 0) != self.name
        if other:
            os.pwrite(last_holder, self.name, 0)
        while time.perf_counter() < taken + critical:
            pass
        self.lock.release()
        done = time.perf_counter()
        self.cycles += done <= end
        self.handed += other and done <= end
        self.record((taken if work == "shared" else done) - begin)

    def record(self, seconds):
        self.longest = max(self.longest, seconds)
        self.times[int(32 * math.log2(max(seconds * 1e6, 1)))] += 1


def play(crowd, seconds):
    gate = threading.Barrier(len(crowd))
    threads = [threading.Thread(target=worker.round, args=(gate, seconds)) for worker in crowd]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = sum((worker.times for worker in crowd), collections.Counter())
    shares = [worker.cycles for worker in crowd]
    return {"cycles": sum(shares), "shares": shares, "times": times,
            "handed": sum(worker.handed for worker in crowd),
            "max_us": 1e6 * max(worker.longest for worker in crowd)}


everybody = [Worker(number) for number in range(workers)]
for line in sys.stdin:
    print(json.dumps(play(everybody, float(line))), flush=True)
