-- How a lock is read by several. Its value is then the owner token of the reader who came first, which begins
-- with 'hr1:', as no writer's does. It stands for all of them, also when that one has left: whoever wants to
-- write finds a lock that is taken, and looks no further. It lives as long as the longest reader.
--
-- While one alone reads, that is all. With the second there is a sorted set beside it: each reader, by the last
-- ms of the server's clock that is its own, which is how the server counts for keys, and '=' with the value of
-- the lock, at 0. A set without that is what an earlier time of reading left, which was ended from outside, and
-- means nothing.
local function is_read(holder) return holder and string.sub(holder, 1, 4) == 'hr1:' end
-- Whether it holds the lock as a writer still, which was to become a reader: of the same digits.
local function wrote_before(holder, owner) return holder == 'hf1:' .. string.sub(owner, 5) end
local function time_in_ms()
    local time = redis.call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000)
end
-- Whether `owner` is among the readers, now.
local function is_reader(readers, holder, owner)
    if not is_read(holder) then return false end
    if not redis.call('ZSCORE', readers, '=' .. holder) then return holder == owner end
    local ends = tonumber(redis.call('ZSCORE', readers, owner) or nil)
    return ends and ends >= time_in_ms()
end
-- Lets it read for at least `ttl` ms from now, among others or alone. The lock is read.
local function read_on(lock, readers, holder, owner, ttl)
    local left = redis.call('PTTL', lock)
    local several = redis.call('ZSCORE', readers, '=' .. holder)
    if several or holder ~= owner then
        local now = time_in_ms()
        if several then
            redis.call('ZREMRANGEBYSCORE', readers, 1, now - 1)
        else
            redis.call('DEL', readers)
            redis.call('ZADD', readers, 0, '=' .. holder, now + left, holder)
        end
        local ends = tonumber(redis.call('ZSCORE', readers, owner) or nil)
        if not ends or ends < now + ttl then redis.call('ZADD', readers, now + ttl, owner) end
        redis.call('PEXPIRE', readers, math.max(left, ttl))
    end
    redis.call('PEXPIRE', lock, math.max(left, ttl))  -- also where that changes nothing: no replica says yes
end
-- Takes a reader out. nil: it was none any more; 'last': nobody is left, and the lock is for the caller to
-- pass on; 'others': the lock lives as long as the longest of these.
local function stop_reading(lock, readers, holder, owner)
    if not redis.call('ZSCORE', readers, '=' .. holder) then return holder == owner and 'last' or nil end
    local ends = tonumber(redis.call('ZSCORE', readers, owner) or nil)
    if not ends then return nil end
    local now = time_in_ms()
    local longest = redis.call('ZREVRANGE', readers, 0, 1, 'WITHSCORES')
    redis.call('ZREM', readers, owner)
    if longest[1] ~= owner then return ends >= now and 'others' or nil end
    local left = tonumber(longest[4]) - now
    if left < 0 then
        redis.call('DEL', readers)
        return 'last'
    end
    left = math.max(left, 1)  -- 0 would delete it, in its last ms
    redis.call('PEXPIRE', lock, left)
    redis.call('PEXPIRE', readers, left)
    return 'others'
end
