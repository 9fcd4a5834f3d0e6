/**
 * These are the bounds of a request. A request over one of them is answered 4xx with a code of its own, and not
 * stored.
 */
export const BRANCHES_MAX = 100
export const PAYLOAD_BYTES_MAX = 256 * 1024
export const BODY_BYTES_MAX = 1024 * 1024
export const JSON_DEPTH_MAX = 32
export const GID_LENGTH_MAX = 128
export const BRANCH_ID_LENGTH_MAX = 64
export const URL_LENGTH_MAX = 2048
export const HEADERS_MAX = 20
export const HEADER_BYTES_MAX = 8 * 1024
export const DEADLINE_MS_MAX = 30 * 24 * 3_600_000
/**
 * A TCC or a message stays prepared for this long if the request does not say. Then the TCC is cancelled, or the
 * sender of the message is asked.
 */
export const PREPARED_MS = 35_000
/**
 * A row of a barrier belongs to another transaction if the transaction of the call was accepted more than this time
 * later. A store of class B, or a lossy failover, may lose an accept, and the client then submits the same gid again
 * within minutes or hours. For the barrier that is the same transaction, whose branches must not run a second time.
 */
export const GID_REUSE_MARGIN_MS = 24 * 3_600_000
export const DELAY_MS_MAX = 30 * 24 * 3_600_000
export const TIMEOUT_MS_MAX = 15 * 60_000
export const CHECKPOINT_MS_MAX = 60_000
export const RETRY_LIMIT_MAX = 1_000_000
export const RETRY_CAP_MS_MAX = 24 * 3_600_000
export const WAIT_MS_MAX = 60_000
/** A node has so many streams of changes at once unless its settings say otherwise. */
export const LIVE_STREAMS_MAX = 100
export const LIST_LIMIT_MAX = 200
/** At most this many bytes of a branch's answer are kept. */
export const ANSWER_BYTES_MAX = 1024
/** A URL has so many places for values. */
export const URL_PLACES_MAX = 32
/** The references of one saga to its input and to what its branches answer. */
export const REFERENCES_MAX = 200
export const POINTER_LENGTH_MAX = 256
export const INPUT_BYTES_MAX = 256 * 1024
/** An answer over this size has no values, and no value that is kept is larger. */
export const KEPT_VALUE_BYTES_MAX = 64 * 1024
/** All values together that a transaction keeps. A value for which there is no room counts as missing. */
export const KEPT_VALUES_BYTES_MAX = 256 * 1024
/** The reason that an abort may give has at most this length. */
export const REASON_LENGTH_MAX = 1024
/** No wait of a saga ends later than this after the accept, so that its compensations come before barriers forget their rows. */
export const WAIT_END_MS_MAX = 30 * 24 * 3_600_000
export const SIGNAL_ID_LENGTH_MAX = 128
export const SIGNAL_BYTES_MAX = 16 * 1024
/** A saga keeps at most this many signals that no wait has taken yet. */
export const SIGNALS_KEPT_MAX = 64
export const SIGNALS_KEPT_BYTES_MAX = 256 * 1024
/**
 * A workflow remembers the ids of this many signals that earlier generations have taken. An older one that comes again counts as
 * a new one.
 */
export const SIGNALS_TAKEN_MAX = 256
export const WORKFLOW_VERSION_MAX = 1_000_000_000
/** The steps that one workflow may plan, with the results of its own code. */
export const STEPS_MAX = 1_000
/** Each may take over a thousand slots, whose numbers have nine digits. */
export const GENERATIONS_MAX = 900_000
/** The slots that one plan call may run local steps under. */
export const GRANTS_MAX = 32
/** The steps that one plan may call for. */
export const NEXT_STEPS_MAX = 100
/** The body of a plan call, and that of its answer. */
export const PLAN_BYTES_MAX = 1024 * 1024
/** The bytes that the input of one workflow, its steps and their results may take together. So a plan call has room for all of it. */
export const JOURNAL_BYTES_MAX = 1024 * 1024
/** The code and the message of a failure that code throws. */
export const FAILURE_CODE_LENGTH_MAX = 64
export const FAILURE_MESSAGE_LENGTH_MAX = 1024
