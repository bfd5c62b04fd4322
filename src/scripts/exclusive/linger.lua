-- Leaves the lock behind for a time, if it is still ours: exactly so long, longer or shorter than it would
-- have lived. For who holds it no more, and believes in no deadline of it.
--
-- KEYS[1] lock   KEYS[2] fencing counter (with fencing)
-- ARGV[1] owner  ARGV[2] ms to live      ARGV[3] ms for which an idle counter is kept
--
-- 1   left
-- 0   another owner, or none
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if KEYS[2] then redis.call('PEXPIRE', KEYS[2], ARGV[3]) end
return 1
