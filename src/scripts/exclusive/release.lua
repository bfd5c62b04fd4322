-- Deletes the lock, if it is still ours.
--
-- KEYS[1] lock
-- ARGV[1] owner
--
-- 1   released
-- 0   another owner, or none
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
