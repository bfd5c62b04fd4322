-- Releases the lock for somebody else, if its owner is still the one who was shown, and keeps a note.
--
-- KEYS[1] lock   KEYS[2] note   KEYS[3] wait queue (of one voter): the first in line has it next
-- ARGV[1] owner  ARGV[2] ms for which the note is kept
-- ARGV[3] by whom  ARGV[4] held by whom  ARGV[5] why
--
-- 1   released
-- 0   another owner, or none
-- uses grant_next.lua
-- uses leave_note.lua
local holder = redis.call('GET', KEYS[1])
-- Several voters may each have had another reader first: the one that is named stands for all of them.
local read = not KEYS[3] and string.sub(ARGV[1], 1, 4) == 'hr1:' and string.sub(holder or '', 1, 4) == 'hr1:'
if holder ~= ARGV[1] and not read then return 0 end
-- The lock goes last.
leave_note(KEYS[2], ARGV[2], ARGV[3], ARGV[4], ARGV[5])
if not KEYS[3] or not grant_next(KEYS[1], KEYS[3], ARGV[1]) then redis.call('DEL', KEYS[1]) end
return 1
