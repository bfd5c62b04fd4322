-- Takes the lock if it is free, and draws the next fencing tokens.
--
-- KEYS[1] lock   KEYS[2] fencing counter   KEYS[3] life   KEYS[4] restart marker
--                                                         KEYS[5] quarantine
-- ARGV[1] owner  ARGV[2] ttl in ms         ARGV[3] ms for which an idle counter is kept
--                                          ARGV[4] how many tokens to draw
--
-- Without KEYS[2], or where ARGV[3] is 0, no token is drawn; without KEYS[4] the server is not
-- asked whether it restarted.
-- {1, counter}      granted; the last of the tokens (0 without fencing)
-- {0, owner, ttl}   held by `owner` for `ttl` more ms (-1: for ever). After CLIENT CACHING YES the
--                   GET makes the server tell this connection when the key goes away, with nothing
--                   lost in between.
-- {2, ttl}          quarantined for `ttl` ms: the server may have forgotten locks
-- {3}               not enlisted: no restart marker, so the server may have forgotten locks
if KEYS[4] then
    local guard = redis.call('MGET', KEYS[4], KEYS[5])
    if guard[2] then return {2, redis.call('PTTL', KEYS[5])} end
    if not guard[1] then return {3} end
end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    return {0, redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}
end
if not KEYS[2] or ARGV[3] == '0' then return {1, 0} end
-- Read only now: who is denied would be told of every change of the counter, too.
local known = redis.call('MGET', KEYS[2], KEYS[3])
local counter = tonumber(known[1] or nil)
local condition = counter and 'XX' or 'NX'
-- A server that lost its last writes may have a counter from before they were made. What it gave
-- out in an earlier life lies below the time at which the present one began to grant.
local floor = counter and tonumber(string.match(known[2] or '', '%d+$')) or 0
local first = counter and counter + 1
if not first or first < floor then
    -- New, expired, lost or not to be believed. Microseconds of the wall clock lie above every
    -- counter that started from an earlier reading, because nobody draws a million tokens a
    -- second.
    local time = redis.call('TIME')
    first = math.max(time[1] * 1000000 + time[2], first or 0)
end
counter = first + ARGV[4] - 1
local text = string.format('%.0f', counter)
if not redis.call('SET', KEYS[2], text, condition, 'PX', ARGV[3]) then
    redis.call('DEL', KEYS[1])
    return {err = 'WRONGTYPE there is something else at the fencing counter ' .. KEYS[2]}
end
return {1, counter}
