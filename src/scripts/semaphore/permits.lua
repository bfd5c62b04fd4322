-- How the permits of a semaphore are kept: in one sorted set at its own key, so that they live and die together,
-- and whoever wants a lock of another kind there finds another type. From the lowest score on:
--
--   holdfast:limit   the limit, less 3000000
--   holdfast:used    how many slots were ever given out, less 2000000
--   #n               n, less 1000000: slot n was given back
--   owner            when its permit is over, in hundredths of a second of the server's clock, times 10000; and
--                    its slot
--
-- A slot that changes hands is first taken out, then put back: where the second is refused a permit is missing,
-- and never is there one too many.
local function text(score) return string.format('%.0f', score) end
local function time_in_hundredths()
    local time = redis.call('TIME')
    return time[1] * 100 + time[2] / 10000
end
-- How many have heard it. In a Cluster the channel carries the hash tag of the slot, and is called within the shard.
local function call(channel, owner, semaphore)
    local how = string.find(channel, '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
    return redis.pcall(how, channel, owner .. '\n' .. semaphore)
end
local function slot_in(score) return score % 10000 end
-- Permits whose time is not over have no lower score.
local function alive_at(now) return (math.floor(now) + 1) * 10000 end
-- The score of slot 0 that is over in `ttl` ms.
local function over_in(now, ttl) return math.ceil(now + ttl / 10) * 10000 end
-- The limit, how many slots were used, and what comes next: a slot that was given back, or a holder. nil: there
-- is nothing. Or an error: it is something else.
local function look_at(semaphore)
    local first = redis.pcall('ZRANGE', semaphore, 0, 2, 'WITHSCORES')
    if first.err and not string.find(first.err, 'WRONGTYPE', 1, true) then return first end
    if first.err or first[1] and (first[1] ~= 'holdfast:limit' or first[3] ~= 'holdfast:used') then
        return {err = 'WRONGTYPE there is no semaphore at ' .. semaphore .. ', but a lock of another kind, or ' ..
            'something else'}
    end
    if first[1] then return first[2] + 3000000, first[4] + 2000000, first[5] end
end
local function give_back(semaphore, slot, owner)
    redis.call('ZREM', semaphore, owner)
    redis.call('ZADD', semaphore, text(slot - 1000000), '#' .. text(slot))
end
-- A slot below the limit that nobody has, the lowest that was given back; and what stands for it, if anything.
-- nil: there is none. `used` and `next` are those of look_at(). More holders than the limit are left where that
-- was lowered.
local function find_slot(semaphore, limit, used, next, now)
    if used > limit and redis.call('ZCOUNT', semaphore, text(alive_at(now)), '+inf') >= limit then return nil end
    local given_back = tonumber(string.match(next or '', '^#(%d+)$') or nil)
    if given_back and given_back < limit then return given_back, next end
    -- Of many that are over together some are enough for now, if one of them is below the limit.
    for _ = 1, 100 do
        local over = redis.call('ZRANGEBYSCORE', semaphore, 1, '(' .. text(alive_at(now)), 'WITHSCORES', 'LIMIT', 0,
            100)
        local lowest
        for n = 1, #over, 2 do
            local slot = slot_in(tonumber(over[n + 1]))
            give_back(semaphore, slot, over[n])
            if slot < limit then lowest = math.min(slot, lowest or slot) end
        end
        if lowest then return lowest, '#' .. text(lowest) end
        if #over == 0 then break end
    end
    if used < limit then return used end
end
local function take_slot(semaphore, limit, slot, given_back, owner, over)
    if given_back then
        redis.call('ZREM', semaphore, given_back)
        redis.call('ZADD', semaphore, text(over + slot), owner)
    else
        redis.call('ZADD', semaphore, text(limit - 3000000), 'holdfast:limit', text(slot + 1 - 2000000),
            'holdfast:used', text(over + slot), owner)
    end
end
-- It lives for as long as anybody may count on it, and for a while longer, so that the limit stays agreed on.
local function keep(semaphore, ms)
    if redis.call('PTTL', semaphore) < ms then redis.call('PEXPIRE', semaphore, ms) end
end
-- Gives permits that are free to those who stand first in line, for 2 s, and calls them, as
-- ../exclusive/grant_next.lua does. The dead are passed over; who waits for something else than a permit is
-- called, and finds out. Returns whether somebody still stands in line, and whether any was given.
-- `limit`: where there is no semaphore yet. `former`: as of grant_next.lua.
local function grant_free(semaphore, queue, now, limit, former)
    local granted = false
    for _ = 1, 100 do
        local entry = redis.pcall('LRANGE', queue, 0, 0)[1]
        if not entry then return false, granted end
        local channel, owner = string.match(entry, '^(%S+) %S+ (.+)$')
        local wants = owner and string.sub(owner, 1, 4) == 'hs1:' and owner ~= former
        local agreed, used, next = look_at(semaphore)
        local slot, given_back
        if wants then slot, given_back = find_slot(semaphore, agreed or limit, used or 0, next, now) end
        if wants and not slot then return true, granted end
        if type(redis.pcall('LPOP', queue)) ~= 'string' then return false, granted end
        local heard = channel and (channel == '-' or call(channel, owner, semaphore))
        if wants and heard ~= 0 then
            take_slot(semaphore, agreed or limit, slot, given_back, owner, over_in(now, 2000))
            keep(semaphore, 2000)
            granted = true
        end
    end
    return true, granted
end
