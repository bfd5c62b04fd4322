-- Reads the lock if it is free, or read, and nobody stands in line for it; claims what was granted to its owner;
-- or stands in line. Of one voter, whose order is everybody's.
--
-- KEYS[1] lock   KEYS[2] wait queue   KEYS[3] readers   KEYS[4] fencing counter (with fencing)
-- ARGV[1] owner  ARGV[2] ttl in ms
-- ARGV[3] how its entry begins, '<channel> <since> ', to which the owner is added; '': it does not wait
-- ARGV[4] '1': it may stand in line already
-- With fencing:  ARGV[5] ms for which an idle counter is kept   ARGV[6] how many tokens to draw
--                ARGV[7] floor: no token of an earlier life of the server reaches it
--
-- {1, counter}             granted; the last of the tokens (0 without fencing)
-- {0, owner, ttl, place}   held by `owner`, or read, for `ttl` more ms (-1: for ever; -2: not looked at, where
--                          others stand before a newcomer). Its place in line, from 1 on; 0: in none
-- uses exclusive/draw.lua
-- uses exclusive/grant_next.lua
-- uses exclusive/stand_in_line.lua
-- uses reading.lua
-- uses admit.lua
local lock, queue, readers, owner = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local ttl, known = tonumber(ARGV[2]), ARGV[4] == '1'
local entry = ARGV[3] .. owner
local holder = redis.call('GET', lock)
local waiting = redis.pcall('LLEN', queue)
local in_line = type(waiting) == 'number' and waiting > 0
-- Who was let in before, and came too late, may have left readers behind under its own name.
if known and holder ~= owner and redis.call('ZSCORE', readers, '=' .. owner) then redis.call('DEL', readers) end
if not holder and in_line then holder = grant_next(lock, queue) end
local before = known and redis.pcall('LPOS', queue, entry)  -- false: not there
if ARGV[3] == '' and in_line then before = waiting end  -- who does not wait comes behind all of them
local admitted = not holder or (known and is_reader(readers, holder, owner))
-- The first in line is kept out by a writer alone: whoever stood before it may have left, or died. Nobody lets
-- go for the dead while others read, so who looks passes over them: an empty call shows who is there.
if not admitted and is_read(holder) then
    while type(before) == 'number' and before > 0 do
        local channel = string.match(redis.pcall('LRANGE', queue, 0, 0)[1] or '', '^(%S+) ')
        local how = channel and string.find(channel, '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
        if not channel or channel == '-' or redis.pcall(how, channel, '') ~= 0 then break end
        if type(redis.pcall('LPOP', queue)) ~= 'string' then break end
        before = before - 1
    end
    admitted = not in_line or before == 0
end
if not admitted then
    local place = ARGV[3] ~= '' and stand_in_line(queue, entry, before) or 0
    local left = -2
    if place < 2 or known then left = redis.call('PTTL', lock) end
    return {0, string.sub(holder, 1, 1024), left, place}
end
if holder then
    read_on(lock, readers, holder, owner, ttl)
else
    redis.call('SET', lock, owner, 'PX', ttl)
    holder = owner
end
if known then redis.pcall('LREM', queue, -1, entry) end
if in_line then admit(lock, queue, readers, holder) end
if not KEYS[4] then return {1, 0} end
local last = draw(redis.call('MGET', KEYS[4])[1], KEYS[4], ARGV[5], ARGV[6], tonumber(ARGV[7]))
if not last then
    if stop_reading(lock, readers, holder, owner) == 'last' and not grant_next(lock, queue, owner) then
        redis.call('DEL', lock)
    end
    return no_counter(KEYS[4])
end
return {1, last}
