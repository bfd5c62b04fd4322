-- Resigns: deletes the note of who leads, and releases the lock, or leaves the line, as
-- exclusive/queue_release.lua does. Of one voter.
--
-- KEYS, ARGV: as there; behind the keys the note of who leads
--
-- as exclusive/queue_release.lua
-- uses note.lua
local note = table.remove(KEYS)
if redis.call('GET', KEYS[1]) == ARGV[1] then delete_note(note) end
-- uses exclusive/queue_release.lua
