-- Takes a reader out, if it still reads; the last lets go of the lock. So does a writer of the same digits that
-- was to become one. Or leaves the line.
--
-- KEYS[1] lock   KEYS[2] readers   KEYS[3] wait queue (of one voter): the first in line has it next
-- ARGV[1] owner  ARGV[2] how its entry in line begins; '': it has none
--
-- 2   released; others read on, or it was granted to the next
-- 1   released; nobody stands in line
-- 0   it read no more
-- or the error by which the queue keeps the entry: it is to be left once more
-- uses exclusive/publish.lua
-- uses exclusive/grant_next.lua
-- uses reading.lua
local lock, readers, queue, owner = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local holder = redis.call('GET', lock)
local found
if wrote_before(holder, owner) then
    found = 'last'
elseif is_read(holder) then
    found = stop_reading(lock, readers, holder, owner)
end
if found == 'others' then return 2 end
if found == 'last' then
    if queue and grant_next(lock, queue, owner) then return 2 end
    redis.call('DEL', lock)
    return 1
end
if not queue or ARGV[2] == '' then return 0 end
local left = redis.pcall('LREM', queue, -1, ARGV[2] .. owner)
-- Refused, as by a server that cannot persist: its entry would be granted the lock in its turn.
return type(left) == 'table' and left or 0
