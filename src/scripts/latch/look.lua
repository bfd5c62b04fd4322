-- Looks at a latch, and sets it if it is not there.
--
-- KEYS[1] latch  KEYS[2] whether it is open
-- ARGV[1] count  ARGV[2] ttl in ms   ARGV[3] by whom it is set; empty: it is not
--
-- {left, ttl, by}   so many are missing, 0: it is open; it lives `ttl` more ms, and was set by `by`
-- {-1}              it is not there
-- {-2, count}       it was set with another count
-- uses find.lua
local left, by = find(KEYS[1], ARGV[1])
if not left and by then return by end
if not left then
    if ARGV[3] == '' then return {-1} end
    local refused = set(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])
    if refused then return refused end
    left, by = tonumber(ARGV[1]), ARGV[3]
end
return {left, redis.call('PTTL', KEYS[1]), by}
