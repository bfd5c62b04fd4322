-- Gives a permit back, if its holder still has it, to the first in line; or leaves the line.
--
-- KEYS[1] semaphore   KEYS[2] permits   KEYS[3] wait queue
-- ARGV[1] owner  ARGV[2] how its entry in line begins; '': it has none
--
-- 2   released, and granted to the next
-- 1   released; nobody stands in line
-- 0   it had none any more
-- or the error by which the queue keeps the entry: it is to be left once more
-- uses permits.lua
local semaphore, permits, queue, owner = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local now = time_in_ms()
local had = slot_of(semaphore, permits, owner, now)
if had then
    free_slot(semaphore, permits, owner)
    return grant_slots(semaphore, permits, queue, now) and 2 or 1
end
if ARGV[2] == '' then return 0 end
local left = redis.pcall('LREM', queue, -1, ARGV[2] .. owner)
-- Refused, as by a server that cannot persist: its entry would be granted a permit in its turn.
return type(left) == 'table' and left or 0
