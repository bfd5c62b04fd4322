-- Leaves a note that a lock is about to be taken away by force. Where any of this is not permitted the lock is as
-- it was. The first PEXPIRE finds nothing, and is there for that alone.
local function leave_note(note, kept, by, held_by, reason)
    redis.call('DEL', note)
    redis.call('PEXPIRE', note, kept)
    redis.call('HSET', note, 'at', redis.call('TIME')[1], 'by', by, 'held_by', held_by, 'reason', reason)
    redis.call('PEXPIRE', note, kept)
end
