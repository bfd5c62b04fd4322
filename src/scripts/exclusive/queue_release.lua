-- Releases the lock, if it is still ours, to the first in line; or leaves the line. Of one voter.
--
-- KEYS[1] lock   KEYS[2] wait queue
-- ARGV[1] owner  ARGV[2] how its entry begins, as of queue_acquire.lua; not there: it has none
--
-- 2   released, and granted to the next
-- 1   released; nobody stands in line
-- 0   another owner, or none
-- or the error by which the queue keeps the entry: it is to be left once more
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
    if not ARGV[2] then return 0 end
    local left = redis.pcall('LREM', KEYS[2], -1, ARGV[2] .. ARGV[1])
    -- Refused, as by a server that cannot persist: its entry would be granted the lock in its turn.
    return type(left) == 'table' and left or 0
end
-- Where nobody waits this look is all that it costs: even to make a function takes time.
local first = redis.pcall('LPOP', KEYS[2])
if first then
-- uses grant_next.lua
    if grant_next(KEYS[1], KEYS[2], ARGV[1], first) then return 2 end
end
redis.call('DEL', KEYS[1])
return 1
