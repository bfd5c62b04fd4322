#!/usr/bin/env bash
# What one `holdfast run -n KEY true` costs, beside what it replaces: `flock -n FILE true` plus one
# redis-cli call. Interleaved, so that whatever else the machine does hits both alike.
# usage: bench/cli_startup.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

rounds=${1:-200}
holdfast=${HOLDFAST:-$PWD/build/release/holdfast}
work=$(mktemp -d "${TMPDIR:-/tmp}/holdfast-bench-XXXXXX")
redis-server --port 0 --unixsocket "$work/redis.sock" --save '' --dir "$work" \
    --logfile "$work/redis.log" >/dev/null &
server=$!
trap 'kill "$server" 2>/dev/null; wait 2>/dev/null; rm -rf "$work"' EXIT
until redis-cli -s "$work/redis.sock" ping >/dev/null 2>&1; do sleep 0.02; done

ours() { "$holdfast" run --url "unix://$work/redis.sock" -n key true; }
floor() { flock -n "$work/file" true && redis-cli -s "$work/redis.sock" ping >/dev/null; }

for ((n = 0; n < rounds; ++n)); do
    begin=${EPOCHREALTIME/[.,]/}
    ours
    middle=${EPOCHREALTIME/[.,]/}
    floor
    end=${EPOCHREALTIME/[.,]/}
    echo $((middle - begin)) >>"$work/ours"
    echo $((end - middle)) >>"$work/floor"
done

percentile() { sort -n "$1" | sed -n "$((rounds * $2 / 100 + 1))p"; }
for part in ours floor; do
    declare "$part=$(percentile "$work/$part" 50)" "${part}_low=$(percentile "$work/$part" 10)"
done
printf 'holdfast run -n KEY true       median %6d us, 10%% below %6d us\n' "$ours" "$ours_low"
printf 'flock -n FILE true, redis-cli  median %6d us, 10%% below %6d us\n' "$floor" "$floor_low"
printf 'ratio of the medians %d.%02d (target: at most 3)\n' \
    $((ours / floor)) $((ours * 100 / floor % 100))
