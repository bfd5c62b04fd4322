-- Draws fencing tokens: `count` of them, and returns the last.
--
-- `found`: what MGET has found there. What is no string counts as missing to that, and is found out when it is
-- written; then nil is returned.
local function draw(found, counter_key, retention, count, floor)
    local counter = tonumber(found or nil)
    local condition = counter and 'XX' or 'NX'
    local first = (counter or 0) + 1
    if not counter or first < floor then
        -- New, expired, lost, or from before the server lost its last writes. Microseconds of the wall
        -- clock lie above every counter that started from an earlier reading, because nobody draws a
        -- million tokens a second.
        local time = redis.call('TIME')
        first = math.max(time[1] * 1000000 + time[2], first, floor)
    end
    local last = first + count - 1
    local text = string.format('%.0f', last)
    return redis.call('SET', counter_key, text, condition, 'PX', retention) and last
end
local function no_counter(counter_key)
    return {err = 'WRONGTYPE there is something else at the fencing counter ' .. counter_key}
end
