-- Resigns: deletes the note of who leads, and releases the lock as exclusive/release.lua does.
--
-- KEYS, ARGV: as there; behind the keys the note of who leads
--
-- as exclusive/release.lua
-- uses note.lua
local note = table.remove(KEYS)
if redis.call('GET', KEYS[1]) == ARGV[1] then delete_note(note) end
-- uses exclusive/release.lua
