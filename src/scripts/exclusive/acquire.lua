-- Takes the lock if it is free, and draws the next fencing tokens. Of several voters: where there is
-- one, queue_acquire.lua.
--
-- KEYS[1] lock   KEYS[2] fencing counter (with fencing)
-- ARGV[1] owner  ARGV[2] ttl in ms
-- With fencing:  ARGV[3] ms for which an idle counter is kept   ARGV[4] how many tokens to draw
--                ARGV[5] floor: no token of an earlier life of the server reaches it
--
-- {1, counter}      granted; the last of the tokens (0 without fencing)
-- {0, owner, ttl}   held by `owner` for `ttl` more ms (-1: for ever). After CLIENT CACHING YES the
--                   GET makes the server tell this connection when the key goes away, with nothing
--                   lost in between. Of a value that is no owner's the beginning is enough, as long
--                   as max_owner_bytes. Cut here: GETRANGE would be one more right to ask for.
-- uses draw.lua
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    local owner = string.sub(redis.call('GET', KEYS[1]) or '', 1, 1024)
    return {0, owner, redis.call('PTTL', KEYS[1])}
end
if not KEYS[2] then return {1, 0} end
-- Read only now: who is denied would be told of every change of the counter, too.
local last = draw(redis.call('MGET', KEYS[2])[1], KEYS[2], ARGV[3], ARGV[4], tonumber(ARGV[5]))
if not last then
    redis.call('DEL', KEYS[1])
    return no_counter(KEYS[2])
end
return {1, last}
