-- Counts down for somebody, once, and sets the latch before if it is not there. The last opens it.
--
-- KEYS[1] latch  KEYS[2] whether it is open
-- ARGV[1] count  ARGV[2] ttl in ms   ARGV[3] by whom it is set   ARGV[4] who counts down
--
-- as look.lua
-- uses find.lua
local left, by = find(KEYS[1], ARGV[1])
if not left and by then return by end
if not left then
    local refused = set(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])
    if refused then return refused end
    left, by = tonumber(ARGV[1]), ARGV[3]
end
-- Whom an open latch counted down for is of no use to anybody.
if left > 0 and redis.call('HSETNX', KEYS[1], '+' .. ARGV[4], '1') == 1 then
    left = left - 1
    local ttl = redis.call('PTTL', KEYS[1])  -- none, where somebody has made it stay
    if left == 0 then redis.call('SET', KEYS[2], '1', 'PX', ttl > 0 and ttl or ARGV[2]) end
end
return {left, redis.call('PTTL', KEYS[1]), by}
