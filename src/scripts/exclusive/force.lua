-- Releases the lock for somebody else, if its owner is still the one who was shown, and keeps a note.
--
-- KEYS[1] lock   KEYS[2] note   KEYS[3] wait queue (of one voter): the first in line has it next
-- ARGV[1] owner  ARGV[2] ms for which the note is kept
-- ARGV[3] by whom  ARGV[4] held by whom  ARGV[5] why
--
-- 1   released
-- 0   another owner, or none
-- uses publish.lua
-- uses grant_next.lua
local holder = redis.call('GET', KEYS[1])
-- Several voters may each have had another reader first: the one that is named stands for all of them.
local read = not KEYS[3] and string.sub(ARGV[1], 1, 4) == 'hr1:' and string.sub(holder or '', 1, 4) == 'hr1:'
if holder ~= ARGV[1] and not read then return 0 end
local now = redis.call('TIME')
-- The lock goes last: where any of these is not permitted it is as it was. The first PEXPIRE finds
-- nothing, and is there for that alone.
redis.call('DEL', KEYS[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
redis.call('HSET', KEYS[2], 'at', now[1], 'by', ARGV[3], 'held_by', ARGV[4], 'reason', ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
if not KEYS[3] or not grant_next(KEYS[1], KEYS[3], ARGV[1]) then redis.call('DEL', KEYS[1]) end
return 1
