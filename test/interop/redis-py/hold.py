"""Tries a lock with redis-py: hold.py KEY TTL_MS URL. See the README beside it."""

import sys

import redis

key, ttl_ms, url = sys.argv[1], int(sys.argv[2]), sys.argv[3]
lock = redis.Redis.from_url(url).lock(key, timeout=ttl_ms / 1000, blocking=False)
if not lock.acquire():
    print("denied", flush=True)
else:
    print("held", flush=True)
    sys.stdin.read()
    lock.release()
    print("released", flush=True)
