-- Compares what the server remembers of its life with its present one. Where they differ, its last
-- writes may be lost: fencing counters restart above all that were given out before, and a guarded
-- server grants nothing until the last lock that it may have forgotten would have ended.
--
-- KEYS[1] life: run_id and the time, in microseconds, from which on it grants: when it was first met,
--         or when the quarantine is over. Clocks may differ by as much as that takes
-- KEYS[2] restart marker   KEYS[3] quarantine (guarded)
-- ARGV[1] run_id           ARGV[2] quarantine in ms (0: an operator vouches for the server)
--
-- {0, ttl}   the marker was right; `ttl` ms of quarantine are left (-2: none)
-- {1, ttl}   the marker was missing or of another life; quarantined for `ttl` ms (-2: none)
local known = KEYS[2] and redis.call('GET', KEYS[2]) == ARGV[1]
local life = string.match(redis.call('GET', KEYS[1]) or '', '^%S*')
if life ~= ARGV[1] or KEYS[2] and (not known or ARGV[2] == '0') then
    local time = redis.call('TIME')
    local grants_from = (time[1] * 1000 + ARGV[2]) * 1000 + time[2]
    redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. string.format('%.0f', grants_from))
end
if not KEYS[2] then return {0, -2} end
if not known then redis.call('SET', KEYS[2], ARGV[1]) end
if ARGV[2] == '0' then
    redis.call('DEL', KEYS[3])
elseif not known and redis.call('PTTL', KEYS[3]) < tonumber(ARGV[2]) then
    redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[2])
end
return {known and 0 or 1, redis.call('PTTL', KEYS[3])}
