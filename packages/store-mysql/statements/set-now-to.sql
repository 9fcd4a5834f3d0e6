-- This runs right before each statement that reads LAST_INSERT_ID(), because an insert leaves the id of its row there.
DO LAST_INSERT_ID(?)
