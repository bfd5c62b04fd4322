-- Takes a permit away from its holder, for somebody else, if it still has it, and keeps a note.
--
-- KEYS[1] semaphore   KEYS[2] note   KEYS[3] wait queue: the first in line has it next
-- ARGV[1] owner  ARGV[2] ms for which the note is kept
-- ARGV[3] by whom  ARGV[4] held by whom  ARGV[5] why
--
-- 1   taken away
-- 0   it had none any more
-- uses exclusive/leave_note.lua
-- uses permits.lua
local score = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or nil)
local now = time_in_hundredths()
if not score or score < alive_at(now) then return 0 end
leave_note(KEYS[2], ARGV[2], ARGV[3], ARGV[4], ARGV[5])
give_back(KEYS[1], slot_in(score), ARGV[1])
grant_free(KEYS[1], KEYS[3], now, 0, ARGV[1])
return 1
