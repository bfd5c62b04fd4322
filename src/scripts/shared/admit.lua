-- Lets those read who stand first in line and want no more than that, and calls them, as grant_next.lua does.
-- They have 2 s to claim it. A hundred at a time: whoever claims it lets the next of them in.
local function admit(lock, queue, readers, holder)
    for _ = 1, 100 do
        local first = redis.pcall('LRANGE', queue, 0, 0)[1]
        local channel, owner = string.match(first or '', '^(%S+) %S+ (hr1:.+)$')
        if not owner or type(redis.pcall('LPOP', queue)) ~= 'string' then return end
        local how = string.find(channel, '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
        local heard = channel == '-' or redis.pcall(how, channel, owner .. '\n' .. lock)
        if heard ~= 0 then read_on(lock, readers, holder, owner, 2000) end
    end
end
