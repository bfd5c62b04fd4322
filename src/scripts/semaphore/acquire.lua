-- Takes a permit if one is free and nobody stands in line; claims what was granted to its owner; or stands in
-- line. Of one voter.
--
-- KEYS[1] semaphore   KEYS[2] wait queue   KEYS[3] permits   KEYS[4] fencing counter (with fencing)
-- ARGV[1] owner  ARGV[2] ttl in ms
-- ARGV[3] how its entry begins, '<channel> <since> ', to which the owner is added; '': it does not wait
-- ARGV[4] '1': it may stand in line already
-- ARGV[5] ms for which an idle semaphore, and an idle counter, are kept
-- ARGV[6] how many tokens to draw   ARGV[7] floor: no token of an earlier life of the server reaches it
-- ARGV[8] limit
--
-- {1, counter, slot}       granted; the last of the tokens (0 without fencing)
-- {0, owner, ttl, place}   all permits are taken: `owner` has the one that ends first, in `ttl` ms. Its place in
--                          line, from 1 on; 0: in none
-- HOLDFASTLIMIT            another limit was agreed on. Nothing was changed
-- uses exclusive/draw.lua
-- uses permits.lua
local semaphore, queue, permits, owner = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local ttl, known, kept, entry = tonumber(ARGV[2]), ARGV[4] == '1', tonumber(ARGV[5]), ARGV[3] .. ARGV[1]
local limit = redis.call('HGET', semaphore, 'limit')
if limit and limit ~= ARGV[8] then
    return {err = 'HOLDFASTLIMIT the semaphore ' .. semaphore .. ' has ' .. limit .. ' permits, not ' .. ARGV[8] ..
        '; an operator can change that'}
end
if not limit and redis.call('EXISTS', semaphore) == 1 then
    return {err = 'WRONGTYPE there is something else at the key of the semaphore ' .. semaphore}
end
redis.call('ZCARD', permits)  -- of another type: refused before anything is written
local now = time_in_ms()
if not limit then
    redis.call('DEL', permits)
    redis.call('HSET', semaphore, 'limit', ARGV[8])
end
sweep(semaphore, permits, now)
local waiting = redis.pcall('LLEN', queue)
if type(waiting) == 'number' and waiting > 0 then
    grant_slots(semaphore, permits, queue, now)
    waiting = redis.pcall('LLEN', queue)
end
local slot = known and slot_of(semaphore, permits, owner, now)
if slot then
    redis.call('ZADD', permits, now + ttl, owner)
elseif type(waiting) ~= 'number' or waiting == 0 then
    slot = take_slot(semaphore, permits, owner, now, ttl)
end
keep(semaphore, permits, math.max(kept, ttl))
if not slot then
    local place = 0
    if ARGV[3] ~= '' then
        -- Who may not look where it stands must not stand there twice.
        local before = known and redis.pcall('LPOS', queue, entry)
        if before then place = before else place = redis.pcall('RPUSH', queue, entry) end
        if type(place) ~= 'number' then place = 0 elseif before then place = place + 1 end
        local extend = before and redis.pcall or redis.call
        if place > 0 then extend('PEXPIRE', queue, 10000) end
    end
    local first = redis.call('ZRANGEBYSCORE', permits, 1, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    return {0, string.sub(first[1] or '', 1, 1024), first[2] and tonumber(first[2]) - now or -2, place}
end
if known then redis.pcall('LREM', queue, -1, entry) end
if not KEYS[4] then return {1, 0, tonumber(slot)} end
local last = draw(KEYS[4], ARGV[5], ARGV[6], tonumber(ARGV[7]))
if not last then
    free_slot(semaphore, permits, owner)
    grant_slots(semaphore, permits, queue, now)
    return no_counter(KEYS[4])
end
return {1, last, tonumber(slot)}
