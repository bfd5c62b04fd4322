-- Whether the first `count` keys are all of this owner. What is no string is nobody's.
local function owns(owner, count)
    local holders = redis.call('MGET', unpack(KEYS, 1, count))
    for n = 1, count do
        if holders[n] ~= owner then return false end
    end
    return true
end
