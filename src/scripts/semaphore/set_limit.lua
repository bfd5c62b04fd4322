-- Changes how many permits there are. Who has one keeps it until it lets go, also beyond the limit. Who stands in
-- line came with another one: it is called, and refused when it looks.
--
-- KEYS[1] semaphore   KEYS[2] wait queue
-- ARGV[1] limit       ARGV[2] ms for which an idle semaphore is kept
--
-- the limit so far; 0: there was none
-- WRONGTYPE   it is no semaphore. Nothing was changed
-- uses permits.lua
local semaphore, queue, limit = KEYS[1], KEYS[2], tonumber(ARGV[1])
local before, used = look_at(semaphore)
if type(before) == 'table' then return before end
redis.call('ZADD', semaphore, text(limit - 3000000), 'holdfast:limit', text((used or 0) - 2000000), 'holdfast:used')
keep(semaphore, tonumber(ARGV[2]))
if before == limit then return before end
for _, entry in ipairs(redis.pcall('LRANGE', queue, 0, -1)) do
    local channel, owner = string.match(entry, '^(%S+) %S+ (hs1:.+)$')
    if owner then
        redis.pcall('LREM', queue, 1, entry)
        if channel ~= '-' then call(channel, owner, semaphore) end
    end
end
return before or 0
