-- Lets all locks live on, if all of them are still ours; otherwise changes nothing. Never shortens, never creates.
--
-- KEYS    locks, n of them; fencing counters, n of them (with fencing)
-- ARGV[1] owner  ARGV[2] ttl in ms   With fencing: ARGV[3] ms for which an idle counter is kept
--
-- 1   extended
-- 0   one of them has another owner, or none
-- uses owns.lua
local count = ARGV[3] and #KEYS / 2 or #KEYS
if not owns(ARGV[1], count) then return 0 end
for n = 1, count do
    if redis.call('PTTL', KEYS[n]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[n], ARGV[2]) end
end
for n = count + 1, #KEYS do redis.call('PEXPIRE', KEYS[n], ARGV[3]) end
return 1
