-- Reads the lock if it is free, or read, and draws the next fencing tokens. Of several voters: where there is
-- one, queue_acquire.lua.
--
-- KEYS[1] lock   KEYS[2] readers   KEYS[3] fencing counter (with fencing)
-- ARGV[1] owner  ARGV[2] ttl in ms
-- With fencing:  ARGV[3] ms for which an idle counter is kept   ARGV[4] how many tokens to draw
--                ARGV[5] floor: no token of an earlier life of the server reaches it
--
-- {1, counter}      granted; the last of the tokens (0 without fencing)
-- {0, owner, ttl}   held by `owner` for `ttl` more ms (-1: for ever)
-- uses exclusive/draw.lua
-- uses reading.lua
local lock, readers, owner, ttl = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2])
local holder = redis.call('GET', lock)
if holder and not is_read(holder) then
    return {0, string.sub(holder, 1, 1024), redis.call('PTTL', lock)}
end
if holder then
    read_on(lock, readers, holder, owner, ttl)
else
    redis.call('SET', lock, owner, 'PX', ttl)
    holder = owner
end
if not KEYS[3] then return {1, 0} end
local last = draw(redis.call('MGET', KEYS[3])[1], KEYS[3], ARGV[3], ARGV[4], tonumber(ARGV[5]))
if not last then
    if stop_reading(lock, readers, holder, owner) == 'last' then redis.call('DEL', lock) end
    return no_counter(KEYS[3])
end
return {1, last}
