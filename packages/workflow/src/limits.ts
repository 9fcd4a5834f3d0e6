/** A plan call over this size is refused, and so is an answer that would be over it. */
export const PLAN_CALL_BYTES_MAX = 1024 * 1024
export const PLAN_ANSWER_BYTES_MAX = 1024 * 1024
/** A plan call may nest arrays and objects so deep: the 32 levels of a value, and its own. */
export const PLAN_CALL_DEPTH_MAX = 40
/** A generation of a workflow has at most this many entries. A longer one continues as the next generation. */
export const STEPS_MAX = 1_000
/** One answer plans at most this many steps. The next plan gets the others. */
export const NEXT_STEPS_MAX = 100
/** The value of a step, a call, a `ctx.run` or a signal, the result, and the details of a failure. */
export const VALUE_BYTES_MAX = 64 * 1024
/** The input of a local step, which its row in the barrier keeps. */
export const STEP_INPUT_BYTES_MAX = 16 * 1024
/** One branch as it is planned: content, headers and compensation. */
export const BRANCH_BYTES_MAX = 512 * 1024
/** One plan call may run at most this many slots. */
export const GRANT_SLOTS_MAX = 32
/** An id leaves room for a number behind it, and for that of a generation, within the 64 characters of a branch's id. */
export const STEP_ID_LENGTH_MAX = 48
/** The code of a failure. What is longer is cut. */
export const FAILURE_CODE_LENGTH_MAX = 64
/** The text of a failure. What is longer is cut. */
export const FAILURE_MESSAGE_LENGTH_MAX = 1_024
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
