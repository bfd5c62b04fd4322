-- Raises all fencing counters to the token that an acquire chose, if all locks are still its own.
--
-- KEYS    locks, n of them; fencing counters, n of them
-- ARGV[1] owner  ARGV[2] token   ARGV[3] ms for which an idle counter is kept
--
-- 1   every counter is at least the token
-- 0   a lock has another owner, or none: raising its counter now would overtake a later holder
-- uses owns.lua
local count = #KEYS / 2
if not owns(ARGV[1], count) then return 0 end
for n = count + 1, #KEYS do
    local counter = tonumber(redis.call('GET', KEYS[n]) or '0')
    if counter < tonumber(ARGV[2]) then redis.call('SET', KEYS[n], ARGV[2], 'PX', ARGV[3]) end
end
return 1
