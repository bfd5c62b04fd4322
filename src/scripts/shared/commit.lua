-- Raises the fencing counter to the token that an acquire chose, if it still reads.
--
-- KEYS[1] lock   KEYS[2] readers   KEYS[3] fencing counter
-- ARGV[1] owner  ARGV[2] token     ARGV[3] ms for which an idle counter is kept
--
-- 1   the counter is at least the token
-- 0   it reads no more: raising it now would overtake a later holder
-- uses reading.lua
if not is_reader(KEYS[2], redis.call('GET', KEYS[1]), ARGV[1]) then return 0 end
local counter = tonumber(redis.call('GET', KEYS[3]) or '0')
if counter < tonumber(ARGV[2]) then redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[3]) end
return 1
