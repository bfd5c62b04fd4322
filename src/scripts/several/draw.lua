-- Draws one fencing token for all keys: larger than every counter of theirs, which stand at it from then on.
-- The counters are the keys from `first` on, and `found`, from there on, too, is what MGET says of them: what is
-- no string counts as missing, and is found out when it is written; then nil is returned, and its name. Those that
-- were raised stay so: a counter may always be larger.
local function draw(found, first, retention, floor)
    local token, missing = 1, false
    for n = first, #KEYS do
        found[n] = tonumber(found[n] or nil) or false
        if found[n] then token = math.max(token, found[n] + 1) else missing = true end
    end
    if missing or token < floor then
        local time = redis.call('TIME')
        token = math.max(time[1] * 1000000 + time[2], token, floor)
    end
    local text = string.format('%.0f', token)
    for n = first, #KEYS do
        if not redis.call('SET', KEYS[n], text, found[n] and 'XX' or 'NX', 'PX', retention) then
            return nil, KEYS[n]
        end
    end
    return token
end
local function no_counter(name)
    return {err = 'WRONGTYPE there is something else at the fencing counter ' .. name}
end
