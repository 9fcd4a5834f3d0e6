import { LIST_LIMIT_MAX } from '@counterstep/protocol'

/** One list from the store has at most this many rows. */
export const LIST_PAGE = LIST_LIMIT_MAX
/** One answer has at most this many rows. DTM has no such bound. */
export const LIST_ROWS_MAX = 1_000
/** For one answer at most this many whole transactions are read at the same time. */
export const READS_AT_ONCE = 8
/**
 * One answer takes at most this many lists from the store. With a filter that matches few rows, each list scans many rows
 * and returns few.
 */
export const LISTS_PER_ANSWER_MAX = 10
/** An answer begins no further read after this time. Its client may go on from the returned position. */
export const LIST_MS_MAX = 2_000
/** An answer has at most this many characters of rows, or one row: a row may have a million, which are six times as many when they are escaped. */
export const LIST_CHARACTERS_MAX = 4 * 1024 * 1024
/** At most this many answers of `all` are under way at the same time. */
export const LISTS_AT_ONCE_MAX = 2
