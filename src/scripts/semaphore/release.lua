-- Gives a permit back, if its holder still has it, to the first in line; or leaves the line.
--
-- KEYS[1] semaphore   KEYS[2] wait queue
-- ARGV[1] owner  ARGV[2] how its entry in line begins, as of acquire.lua; not there: it has none
--
-- 2   given back, and granted to the next
-- 1   given back; nobody stands in line
-- 0   it had none any more
-- or the error by which the queue keeps the entry: it is to be left once more
-- uses permits.lua
local semaphore, queue, owner = KEYS[1], KEYS[2], ARGV[1]
local score = tonumber(redis.call('ZSCORE', semaphore, owner) or nil)
if not score then
    if not ARGV[2] then return 0 end
    local left = redis.pcall('LREM', queue, -1, ARGV[2] .. owner)
    -- Refused, as by a server that cannot persist: its entry would be granted a permit in its turn.
    return type(left) == 'table' and left or 0
end
local now = time_in_hundredths()
give_back(semaphore, slot_in(score), owner)
local _, granted = grant_free(semaphore, queue, now, 0, owner)
if score < alive_at(now) then return 0 end
return granted and 2 or 1
