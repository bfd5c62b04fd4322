-- Calls whoever listens to a channel. Returns how many do, or the error by which that was refused. In a Cluster
-- the channel carries the hash tag of the slot, and is called within the shard.
local function publish(channel, message)
    local how = string.find(channel, '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
    return redis.pcall(how, channel, message)
end
