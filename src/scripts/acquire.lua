-- Takes the lock if it is free, and draws the next fencing token.
--
-- KEYS[1] lock   KEYS[2] fencing counter   KEYS[3], KEYS[4] restart marker, quarantine (guarded)
-- ARGV[1] owner  ARGV[2] ttl in ms         ARGV[3] ms for which an idle counter is kept
--
-- Without KEYS[2], or where ARGV[3] is 0, no token is drawn; without KEYS[3] the server is not
-- asked whether it restarted.
-- {1, counter}      granted (counter 0 without fencing)
-- {0, owner, ttl}   held by `owner` for `ttl` more ms (-1: for ever). The GET makes the server
--                   tell this connection when the key goes away, with nothing lost in between.
-- {2, ttl}          quarantined for `ttl` ms: the server may have forgotten locks
-- {3}               not enlisted: no restart marker, so the server may have forgotten locks
if KEYS[3] then
    local guard = redis.call('MGET', KEYS[3], KEYS[4])
    if guard[2] then return {2, redis.call('PTTL', KEYS[4])} end
    if not guard[1] then return {3} end
end
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    return {0, redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}
end
if not KEYS[2] or ARGV[3] == '0' then return {1, 0} end
local counter = redis.call('INCR', KEYS[2])
if counter == 1 then
    -- New, expired or lost. Microseconds of the wall clock lie above every counter that started
    -- from an earlier reading, because nobody acquires a lock a million times a second.
    local time = redis.call('TIME')
    counter = time[1] * 1000000 + time[2]
    redis.call('SET', KEYS[2], string.format('%.0f', counter), 'PX', ARGV[3])
else
    redis.call('PEXPIRE', KEYS[2], ARGV[3])
end
return {1, counter}
