-- How the permits of a semaphore are kept. At its key is a hash: 'limit'; 'used', how many slots were ever given
-- out; and each holder's slot by its owner token. What wants a lock at the same key finds another type there.
-- Beside it a sorted set: each holder by when it ends, in ms of the server's clock, and '#' with its number for
-- each slot that is free again, below all of these.
local function time_in_ms()
    local time = redis.call('TIME')
    return time[1] * 1000 + math.ceil(time[2] / 1000)
end
local function free_slot(semaphore, permits, owner)
    local slot = redis.call('HGET', semaphore, owner)
    redis.call('ZREM', permits, owner)
    if not slot then return end
    redis.call('HDEL', semaphore, owner)
    redis.call('ZADD', permits, tonumber(slot) - 1000000, '#' .. slot)
end
-- What is over comes back.
local function sweep(semaphore, permits, now)
    for _, owner in ipairs(redis.call('ZRANGEBYSCORE', permits, 1, now)) do free_slot(semaphore, permits, owner) end
end
-- The slot that it has, while its time is not over; nil: none.
local function slot_of(semaphore, permits, owner, now)
    local ends = tonumber(redis.call('ZSCORE', permits, owner) or nil)
    return ends and ends > now and redis.call('HGET', semaphore, owner) or nil
end
-- Both live for as long as anybody may count on them, and for a while longer, so that the limit stays agreed on.
local function keep(semaphore, permits, ms)
    for _, key in ipairs({semaphore, permits}) do
        if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, ms) end
    end
end
-- Gives the lowest free slot to `owner` for `ttl` ms; nil: there is none. What was swept is free.
local function take_slot(semaphore, permits, owner, now, ttl)
    local limit = tonumber(redis.call('HGET', semaphore, 'limit'))
    local slot = string.match(redis.call('ZRANGE', permits, 0, 0)[1] or '', '^#(%d+)$')
    if slot then
        if tonumber(slot) >= limit then return nil end
        redis.call('ZREM', permits, '#' .. slot)
    else
        slot = redis.call('HGET', semaphore, 'used') or '0'
        if tonumber(slot) >= limit then return nil end
        redis.call('HSET', semaphore, 'used', tonumber(slot) + 1)
    end
    redis.call('HSET', semaphore, owner, slot)
    redis.call('ZADD', permits, now + ttl, owner)
    return slot
end
-- Gives free slots to those who stand first in line, and calls them, as ../exclusive/grant_next.lua does. They
-- have 2 s to claim them. The dead are passed over. Returns whether any was given.
local function grant_slots(semaphore, permits, queue, now)
    local granted = false
    for _ = 1, 100 do
        local first = redis.pcall('LRANGE', queue, 0, 0)[1]
        local channel, owner = string.match(first or '', '^(%S+) %S+ (.+)$')
        if not first then return granted end
        local slot = owner and take_slot(semaphore, permits, owner, now, 2000)
        if owner and not slot then return granted end
        if type(redis.pcall('LPOP', queue)) ~= 'string' then
            if owner then free_slot(semaphore, permits, owner) end
            return granted
        end
        if owner then
            local heard = channel == '-' or redis.pcall('PUBLISH', channel, owner .. '\n' .. semaphore)
            if heard == 0 then free_slot(semaphore, permits, owner) else granted = true end
        end
    end
    return granted
end
