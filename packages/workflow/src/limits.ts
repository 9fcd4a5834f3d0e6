/** A plan call may nest arrays and objects so deep: the 32 levels of a value, and its own. */
export const PLAN_CALL_DEPTH_MAX = 40
/** The input of a local step, which its row in the barrier keeps. */
export const STEP_INPUT_BYTES_MAX = 16 * 1024
/** One branch as it is planned: content, headers and compensation. */
export const BRANCH_BYTES_MAX = 512 * 1024
/** An id leaves room for a number behind it, and for that of a generation, within the 64 characters of a branch's id. */
export const STEP_ID_LENGTH_MAX = 48
/**
 * A function may read the time, chance and patches so often in one plan call. None of these reads ends, so without a
 * bound a loop that waits for the time to pass would hold the process for ever.
 */
export const LOCAL_READS_MAX = 100_000
/**
 * From so many bytes of the journal, or so many entries, a workflow is told to continue as a new generation. The record
 * has 1 MiB, and beside the journal it holds what was planned.
 */
export const CONTINUE_SUGGESTED_BYTES = 256 * 1024
export const CONTINUE_SUGGESTED_STEPS = 500
