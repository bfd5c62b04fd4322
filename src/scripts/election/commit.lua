-- Raises the fencing counter as exclusive/commit.lua does, and notes the term that it is.
--
-- KEYS, ARGV: as there; behind them the note of who leads, and the candidate's value
--
-- as exclusive/commit.lua
-- uses note.lua
local note, value = table.remove(KEYS), table.remove(ARGV)
local refused = why_no_note(note)
if refused then return refused end
local function raise()
-- uses exclusive/commit.lua
end
local answer = raise()
if answer == 1 then write_note(note, ARGV[2], ARGV[1], value) end
return answer
