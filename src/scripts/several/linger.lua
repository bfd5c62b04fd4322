-- Leaves all locks behind for a time, if all of them are still ours: as exclusive/linger.lua.
--
-- KEYS    locks, n of them; fencing counters, n of them (with fencing)
-- ARGV[1] owner  ARGV[2] ms to live   With fencing: ARGV[3] ms for which an idle counter is kept
--
-- 1   left
-- 0   one of them has another owner, or none
-- uses owns.lua
local count = ARGV[3] and #KEYS / 2 or #KEYS
if not owns(ARGV[1], count) then return 0 end
for n = 1, #KEYS do redis.call('PEXPIRE', KEYS[n], ARGV[n > count and 3 or 2]) end
return 1
