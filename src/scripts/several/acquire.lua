-- Takes all locks if all of them are free, and draws one fencing token above all their counters. Of several
-- voters: where there is one, queue_acquire.lua.
--
-- KEYS    locks, n of them; fencing counters, n of them (with fencing)
-- ARGV[1] owner  ARGV[2] ttl in ms
-- With fencing:  ARGV[3] ms for which an idle counter is kept   ARGV[4] floor, as of exclusive/acquire.lua
--
-- {1, counter}      granted; the token (0 without fencing)
-- {0, owner, ttl}   the first that is held, in the order of KEYS: by `owner`, for `ttl` more ms (-1: for ever).
--                   Nothing was changed. The GET makes the server tell when that key goes away
-- uses draw.lua
local fenced = ARGV[3]
local count = fenced and #KEYS / 2 or #KEYS
for n = 1, count do
    local holder = redis.call('GET', KEYS[n])
    if holder then return {0, string.sub(holder, 1, 1024), redis.call('PTTL', KEYS[n])} end
end
for n = 1, count do redis.call('SET', KEYS[n], ARGV[1], 'PX', ARGV[2]) end
if not fenced then return {1, 0} end
-- Read only now: who is denied would be told of every change of the counters, too.
local found = redis.call('MGET', unpack(KEYS))
local token, wrong = draw(found, count + 1, fenced, tonumber(ARGV[4]))
if not token then
    for n = 1, count do redis.call('DEL', KEYS[n]) end
    return no_counter(wrong)
end
return {1, token}
