-- Takes the lock if it is free, and draws the next fencing tokens.
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
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    local owner = string.sub(redis.call('GET', KEYS[1]) or '', 1, 1024)
    return {0, owner, redis.call('PTTL', KEYS[1])}
end
if not KEYS[2] then return {1, 0} end
-- Read only now: who is denied would be told of every change of the counter, too. By MGET: what is
-- no string counts as missing, and is found out below.
local counter = tonumber(redis.call('MGET', KEYS[2])[1] or nil)
local condition = counter and 'XX' or 'NX'
local first = (counter or 0) + 1
local floor = tonumber(ARGV[5])
if not counter or first < floor then
    -- New, expired, lost, or from before the server lost its last writes. Microseconds of the wall
    -- clock lie above every counter that started from an earlier reading, because nobody draws a
    -- million tokens a second.
    local time = redis.call('TIME')
    first = math.max(time[1] * 1000000 + time[2], first, floor)
end
counter = first + ARGV[4] - 1
local text = string.format('%.0f', counter)
if not redis.call('SET', KEYS[2], text, condition, 'PX', ARGV[3]) then
    redis.call('DEL', KEYS[1])
    return {err = 'WRONGTYPE there is something else at the fencing counter ' .. KEYS[2]}
end
return {1, counter}
