-- Deletes the note of who leads, after its lock was taken away by force, if it is still that leader's.
--
-- KEYS[1] note of who leads
-- ARGV[1] owner
--
-- 1   deleted
-- 0   another's, or none
local found = redis.pcall('GET', KEYS[1])
if type(found) ~= 'string' or string.match(found, '^%d+\n([^\n]*)\n') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
