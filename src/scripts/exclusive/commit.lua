-- Raises the fencing counter to the token that an acquire chose, if the lock is still its own.
--
-- KEYS[1] lock   KEYS[2] fencing counter
-- ARGV[1] owner  ARGV[2] token             ARGV[3] ms for which an idle counter is kept
--
-- 1   the counter is at least the token
-- 0   the lock has another owner, or none: raising it now would overtake a later holder
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local counter = tonumber(redis.call('GET', KEYS[2]) or '0')
if counter < tonumber(ARGV[2]) then redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3]) end
return 1
