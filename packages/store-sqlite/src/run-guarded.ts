/** Runs this later in the thread, and handles its errors like those of a message. */
export type RunGuarded = (work: () => void) => void
