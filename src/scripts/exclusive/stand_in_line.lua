-- Puts an entry at the end of a wait queue, or says where it stands: its place, from 1 on; 0: the queue is kept
-- from it. `before`: what LPOS said of it; false: it does not stand there. queue_acquire.lua has the same in
-- place, since a function costs those, too, who are not denied.
local function stand_in_line(queue, entry, before)
    local place = before
    -- Who may not look where it stands must not stand there twice.
    if not before then place = redis.pcall('RPUSH', queue, entry) end
    if type(place) ~= 'number' then return 0 end
    -- Who waits looks once a second, so a queue that outlives this has nobody in it. A server that takes no
    -- writes for a while refuses even this: a look that finds its entry goes on without.
    local extend = before and redis.pcall or redis.call
    extend('PEXPIRE', queue, 10000)
    return before and place + 1 or place
end
