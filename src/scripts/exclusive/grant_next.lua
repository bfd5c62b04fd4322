-- Grants a lock that nobody holds to the first in its wait queue who is still there, and calls it.
-- Returns its owner; nil: there is nobody, and the lock is as it was. `former`: who has just let go, and
-- gets nothing, even if its entry is still there: its owner must not work again. `entry`: the first, where it
-- was taken out of the queue already.
--
-- An entry is '<channel> <since> <owner>'. The owner is what the waiter will claim the grant with, soon:
-- for a waiter that cannot, because it stands still, the others wait no longer than 2 s. The number of
-- receivers says whether it is there. Where that cannot be known, because the entry has no channel ('-')
-- or whoever runs this may not publish, it gets its 2 s, and finds them when it looks. In a Cluster the
-- channel carries the hash tag of the slot, and is called within the shard.
--
-- Who waits for a permit (hs1:) finds no semaphore here any more, and is passed over: it finds that when it looks.
--
-- Protected: what is refused, or finds another type there, must not leave the work half done.
local function grant_next(lock, queue, former, entry)
    while true do
        entry = entry or redis.pcall('LPOP', queue)
        if type(entry) ~= 'string' then return nil end
        local channel, owner = string.match(entry, '^(%S+) %S+ (.+)$')
        local heard = 0
        if owner and owner ~= former and string.sub(owner, 1, 4) ~= 'hs1:' then
            local how = string.find(channel, '{', 1, true) and 'SPUBLISH' or 'PUBLISH'
            heard = channel == '-' or redis.pcall(how, channel, owner .. '\n' .. lock)
        end
        if heard ~= 0 then
            return not redis.pcall('SET', lock, owner, 'PX', 2000).err and owner or nil
        end
        entry = nil
    end
end
