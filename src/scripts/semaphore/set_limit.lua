-- Changes the limit of a semaphore. Who has a slot beyond it keeps it until it lets go.
--
-- KEYS[1] semaphore   KEYS[2] permits   KEYS[3] wait queue
-- ARGV[1] limit       ARGV[2] ms for which an idle semaphore is kept
--
-- the limit so far; 0: there was none
-- uses permits.lua
local semaphore, permits, queue = KEYS[1], KEYS[2], KEYS[3]
local before = redis.call('HGET', semaphore, 'limit')
if not before and redis.call('EXISTS', semaphore) == 1 then
    return {err = 'WRONGTYPE there is something else at the key of the semaphore ' .. semaphore}
end
redis.call('ZCARD', permits)
if not before then redis.call('DEL', permits) end
redis.call('HSET', semaphore, 'limit', ARGV[1])
local now = time_in_ms()
sweep(semaphore, permits, now)
grant_slots(semaphore, permits, queue, now)
keep(semaphore, permits, tonumber(ARGV[2]))
return tonumber(before or '0')
