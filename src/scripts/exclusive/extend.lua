-- Lets the lock live on, if it is still ours. Never shortens, never creates.
--
-- KEYS[1] lock   KEYS[2] fencing counter (with fencing)
-- ARGV[1] owner  ARGV[2] ttl in ms       ARGV[3] ms for which an idle counter is kept
--
-- 1   extended
-- 0   another owner, or none
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if KEYS[2] then redis.call('PEXPIRE', KEYS[2], ARGV[3]) end
return 1
