/** The bounds of a request. Each one over is a 4xx with a code of its own, and stores nothing. */
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
/** How long a TCC or a message stays prepared if the request does not say: then it is cancelled, or its sender asked. */
export const PREPARED_MS = 35_000
/**
 * How much later than a barrier's row a call's transaction must have been accepted for the row to be another
 * transaction's. A store of class B, and a lossy failover, may lose an accept, and the client then submits the same
 * gid again within minutes or hours: for the barrier that is the same transaction, whose branches must not run a
 * second time.
 */
export const GID_REUSE_MARGIN_MS = 24 * 3_600_000
export const DELAY_MS_MAX = 30 * 24 * 3_600_000
export const TIMEOUT_MS_MAX = 15 * 60_000
export const CHECKPOINT_MS_MAX = 60_000
export const RETRY_LIMIT_MAX = 1_000_000
export const RETRY_CAP_MS_MAX = 24 * 3_600_000
export const WAIT_MS_MAX = 60_000
export const LIST_LIMIT_MAX = 200
/** How much of a branch's answer is kept. */
export const ANSWER_BYTES_MAX = 1024
/** The reason that an abort may give has at most this length. */
export const REASON_LENGTH_MAX = 1024
