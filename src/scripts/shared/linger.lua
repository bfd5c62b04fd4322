-- Leaves a reader behind for a time, if it still reads: exactly so long. For who reads no more, and believes in
-- no deadline of it.
--
-- KEYS[1] lock   KEYS[2] readers      KEYS[3] fencing counter (with fencing)
-- ARGV[1] owner  ARGV[2] ms to live   ARGV[3] ms for which an idle counter is kept
--
-- 1   left
-- 0   it read no more
-- uses reading.lua
local lock, readers, owner, ttl = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])
local holder = redis.call('GET', lock)
if not is_reader(readers, holder, owner) then return 0 end
if redis.call('ZSCORE', readers, '=' .. holder) then
    local now = time_in_ms()
    redis.call('ZADD', readers, now + ttl, owner)
    ttl = tonumber(redis.call('ZREVRANGE', readers, 0, 0, 'WITHSCORES')[2]) - now
    redis.call('PEXPIRE', readers, ttl)
end
redis.call('PEXPIRE', lock, ttl)
if KEYS[3] then redis.call('PEXPIRE', KEYS[3], ARGV[3]) end
return 1
