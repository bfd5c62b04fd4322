-- Lets a holder keep its permit, if it still has it. Never shortens, unless that is asked for, never creates.
-- Without any time it says whether it has it, and changes nothing.
--
-- KEYS[1] semaphore   KEYS[2] fencing counter (with fencing)
-- ARGV[1] owner  ARGV[2] ttl in ms   ARGV[3] ms for which an idle semaphore, and an idle counter, are kept
-- ARGV[4] is there where it is to be left for exactly so long
--
-- 1   it has it
-- 0   it does not any more
-- uses permits.lua
local semaphore, owner, ttl, kept = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local score = tonumber(redis.call('ZSCORE', semaphore, owner) or nil)
local now = time_in_hundredths()
if not score or score < alive_at(now) then return 0 end
if ttl == 0 then return 1 end
local extended = over_in(now, ttl) + slot_in(score)
if ARGV[4] or score < extended then redis.call('ZADD', semaphore, text(extended), owner) end
keep(semaphore, kept)
if KEYS[2] then redis.call('PEXPIRE', KEYS[2], kept) end
return 1
