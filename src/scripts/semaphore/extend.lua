-- Lets a holder keep its permit, if it still has it. Never shortens, unless '1' is given, never creates. Without
-- any time it says whether it has it, and changes nothing.
--
-- KEYS[1] semaphore   KEYS[2] permits   KEYS[3] fencing counter (with fencing)
-- ARGV[1] owner  ARGV[2] ttl in ms   ARGV[3] ms for which an idle semaphore, and an idle counter, are kept
-- ARGV[4] '1': exactly so long
--
-- 1   it has it
-- 0   it does not any more
-- uses permits.lua
local semaphore, permits, owner, ttl = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])
local now = time_in_ms()
if not slot_of(semaphore, permits, owner, now) then return 0 end
if ttl == 0 then return 1 end
if ARGV[4] == '1' or tonumber(redis.call('ZSCORE', permits, owner)) < now + ttl then
    redis.call('ZADD', permits, now + ttl, owner)
end
keep(semaphore, permits, math.max(tonumber(ARGV[3]), ttl))
if KEYS[3] then redis.call('PEXPIRE', KEYS[3], ARGV[3]) end
return 1
