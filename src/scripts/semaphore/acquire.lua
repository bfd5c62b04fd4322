-- Takes a permit if one is free and nobody stands in line; claims what was granted to its owner; or stands in
-- line. Of one voter.
--
-- KEYS[1] semaphore   KEYS[2] wait queue   KEYS[3] fencing counter (with fencing)
-- ARGV[1] owner  ARGV[2] ttl in ms   ARGV[3] limit
-- ARGV[4] ms for which an idle semaphore, and an idle counter, are kept
-- ARGV[5] floor: no token of an earlier life of the server reaches it
-- Who waits:     ARGV[6] how its entry begins, '<channel> <since> ', to which the owner is added
--                ARGV[7] is there where it may stand in line already
--
-- {1, counter, slot}       granted; its token (0 without fencing)
-- {0, owner, ttl, place}   all permits are taken: that of `owner` is over first, in `ttl` ms. Its place in line,
--                          from 1 on; 0: in none
-- HOLDFASTLIMIT, WRONGTYPE   another limit was agreed on; it is no semaphore. Nothing was changed
-- uses exclusive/draw.lua
-- uses exclusive/stand_in_line.lua
-- uses permits.lua
local semaphore, queue, owner = KEYS[1], KEYS[2], ARGV[1]
local wanted, kept, in_line = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[7]
local limit, used, next = look_at(semaphore)
if type(limit) == 'table' then return limit end
if limit and limit ~= wanted then
    return {err = 'HOLDFASTLIMIT the semaphore ' .. semaphore .. ' has ' .. limit .. ' permits, not ' .. wanted}
end
local now = time_in_hundredths()
local waiting = redis.pcall('LLEN', queue)
local others_wait = type(waiting) == 'number' and waiting > 0
if others_wait then
    local first = redis.pcall('LRANGE', queue, 0, 0)[1] or ''
    if not limit and first ~= '' and not string.match(first, '^%S+ %S+ hs1:') then
        return {err = 'WRONGTYPE others wait at ' .. semaphore .. ' for a lock that is no semaphore'}
    end
    others_wait = grant_free(semaphore, queue, now, wanted)
    limit, used, next = look_at(semaphore)
end
local over = over_in(now, ARGV[2])
local score = in_line and redis.call('ZSCORE', semaphore, owner)
local slot, given_back
if score then
    slot = slot_in(tonumber(score))
    redis.call('ZADD', semaphore, text(over + slot), owner)
elseif not others_wait then
    slot, given_back = find_slot(semaphore, wanted, used or 0, next, now)
    if slot then take_slot(semaphore, wanted, slot, given_back, owner, over) end
end
if not slot then
    local place = 0
    if ARGV[6] then
        local entry = ARGV[6] .. owner
        place = stand_in_line(queue, entry, in_line and redis.pcall('LPOS', queue, entry))
    end
    local first = redis.call('ZRANGEBYSCORE', semaphore, text(alive_at(now)), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    local left = first[2] and math.ceil((math.floor(first[2] / 10000) - now) * 10) or -2
    return {0, first[1] or '', left, place}
end
keep(semaphore, kept)
-- Where the queue was kept from it, it may still stand there.
if in_line then redis.pcall('LREM', queue, -1, ARGV[6] .. owner) end
if not KEYS[3] then return {1, 0, slot} end
local last = draw(redis.call('MGET', KEYS[3])[1], KEYS[3], kept, 1, tonumber(ARGV[5]))
if not last then
    give_back(semaphore, slot, owner)
    grant_free(semaphore, queue, now, wanted, owner)
    return no_counter(KEYS[3])
end
return {1, last, slot}
