-- Compares the server's restart marker with its present life. Where they differ, locks may have
-- been lost, and the server grants nothing until the last of them would have ended.
--
-- KEYS[1] restart marker   KEYS[2] quarantine
-- ARGV[1] run_id           ARGV[2] quarantine in ms (0: an operator vouches for the server)
--
-- {0, ttl}   the marker was right; `ttl` ms of quarantine are left (-2: none)
-- {1, ttl}   the marker was missing or of another life; quarantined for `ttl` ms (-2: none)
local known = redis.call('GET', KEYS[1]) == ARGV[1]
if not known then redis.call('SET', KEYS[1], ARGV[1]) end
if ARGV[2] == '0' then
    redis.call('DEL', KEYS[2])
elseif not known and redis.call('PTTL', KEYS[2]) < tonumber(ARGV[2]) then
    redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
end
return {known and 0 or 1, redis.call('PTTL', KEYS[2])}
