-- Takes the lock if it is free and nobody stands in line for it; claims what was granted to its owner;
-- or stands in line. Of one voter, whose order is everybody's.
--
-- KEYS[1] lock   KEYS[2] wait queue   KEYS[3] fencing counter (with fencing)
-- ARGV[1] owner  ARGV[2] ttl in ms
-- With fencing:  ARGV[3] ms for which an idle counter is kept   ARGV[4] how many tokens to draw
--                ARGV[5] floor: no token of an earlier life of the server reaches it
-- Who waits:     ARGV[6], or ARGV[3]: how its entry begins, '<channel> <since> ', to which the owner is added
--                ARGV[7], or ARGV[4]: is there where it may stand in line already
-- What is not said is not sent: each argument costs the server as much as a command inside the script.
--
-- {1, counter}             granted; the last of the tokens (0 without fencing)
-- {0, owner, ttl, place}   held by `owner` for `ttl` more ms (-1: for ever; -2: not looked at, where
--                          others stand before a newcomer). Its place in line, from 1 on; 0: in none
-- uses draw.lua
-- uses grant_next.lua
local lock, queue, owner = KEYS[1], KEYS[2], ARGV[1]
local said_before = KEYS[3] and 5 or 2
local entry, in_line = ARGV[said_before + 1], ARGV[said_before + 2]
-- The counter is read along: nobody listens through this script, so nobody is told of its changes.
local found = KEYS[3] and redis.call('MGET', lock, KEYS[3]) or {redis.call('GET', lock)}
local holder = found[1]
-- Nothing is written where nobody waits: a server without memory lets a script go on that has begun to.
local waiting = not holder and redis.pcall('LLEN', queue)
if type(waiting) == 'number' and waiting > 0 then
    holder = redis.call('GET', lock) or grant_next(lock, queue)
end
if not holder then
    -- MGET does not tell what is no string from nothing, and GET says what is wrong with it.
    if not redis.call('SET', lock, owner, 'NX', 'PX', ARGV[2]) then redis.call('GET', lock) end
    -- Where the queue was kept from it, it may still stand there.
    if in_line then redis.pcall('LREM', queue, -1, entry .. owner) end
elseif holder == owner then
    redis.call('PEXPIRE', lock, ARGV[2])
else
    local place = 0
    if entry then
        entry = entry .. owner
        -- Who may not look where it stands must not stand there twice.
        local before = in_line and redis.pcall('LPOS', queue, entry)
        if before then place = before else place = redis.pcall('RPUSH', queue, entry) end
        if type(place) ~= 'number' then place = 0 elseif before then place = place + 1 end
        -- Who waits looks once a second, so a queue that outlives this has nobody in it. A server that
        -- takes no writes for a while refuses even this: a look that finds its entry goes on without.
        local extend = before and redis.pcall or redis.call
        if place > 0 then extend('PEXPIRE', queue, 10000) end
    end
    local left = -2
    if place < 2 or in_line then left = redis.call('PTTL', lock) end
    return {0, string.sub(holder, 1, 1024), left, place}
end
if not KEYS[3] then return {1, 0} end
local last = draw(found[2], KEYS[3], ARGV[3], ARGV[4], tonumber(ARGV[5]))
if not last then
    if not grant_next(lock, queue, owner) then redis.call('DEL', lock) end
    return no_counter(KEYS[3])
end
return {1, last}
