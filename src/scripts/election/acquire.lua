-- Takes the lock as exclusive/acquire.lua does, and notes who leads. Of several voters, whose counters may
-- differ: the term is that of commit.lua in the end.
--
-- KEYS, ARGV: as there, with fencing; behind them the note of who leads, and the candidate's value
--
-- as exclusive/acquire.lua
-- uses note.lua
local note, value = table.remove(KEYS), table.remove(ARGV)
local refused = why_no_note(note)
if refused then return refused end
local function take()
-- uses exclusive/acquire.lua
end
local answer = take()
if answer[1] == 1 then write_note(note, string.format('%.0f', answer[2]), ARGV[1], value) end
return answer
