-- Right before each statement that relies on it, since an insert leaves its row's id there.
DO LAST_INSERT_ID(?)
