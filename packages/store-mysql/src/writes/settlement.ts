/** Answers one caller; called after the COMMIT that holds his row. */
export type Settlement = () => void
