-- A latch is a hash at the user's key: 'latch' its count, 'set' by whom it was set, and a field '+' .. id for
-- each who has counted down. Ids, not a number: who repeats it, because no answer came, counts once. Beside
-- it a string that says whether it is open, and changes only then: that is what those watch who wait.
--
-- How many are missing, and who set it; nil: it is not there, and nil, the error: something else is.
local function find(latch, count)
    local found = redis.pcall('HMGET', latch, 'latch', 'set')
    if found.err and not string.find(found.err, '^WRONGTYPE') then return nil, found end
    if found.err or (not found[1] and redis.call('EXISTS', latch) == 1) then
        return nil, {err = 'WRONGTYPE what is at ' .. latch .. ' is no latch'}
    end
    if not found[1] then return nil end
    if found[1] ~= count then return nil, {-2, tonumber(found[1])} end
    return math.max(tonumber(count) - (redis.call('HLEN', latch) - 2), 0), found[2]
end
-- Sets it, with nobody counted down. REQUIRES: it is not there.
local function set(latch, beside, count, ttl, by)
    local there = redis.pcall('GET', beside)
    if type(there) == 'table' then return there end
    redis.call('SET', beside, '0', 'PX', ttl)
    redis.call('HSET', latch, 'latch', count, 'set', by)
    redis.call('PEXPIRE', latch, ttl)
end
