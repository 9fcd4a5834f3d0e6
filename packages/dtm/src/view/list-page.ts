import { LIST_LIMIT_MAX } from '@counterstep/protocol'

/** One list of the store has at most so many rows. */
export const LIST_PAGE = LIST_LIMIT_MAX
/** Rows of one answer, where DTM knows no bound. */
export const LIST_ROWS_MAX = 1_000
/** Whole transactions that are read at once for a list. */
export const READS_AT_ONCE = 8
/** One answer takes at most so many lists of the store: with a filter that matches little, each scans many rows and returns few. */
export const LISTS_PER_ANSWER_MAX = 10
/** One answer that reads many rows begins no further read after this time; its client goes on from where it ended. */
export const LIST_MS_MAX = 2_000
/** One answer reads no further rows once those that it has hold so many characters: a row may have a million. */
export const LIST_CHARACTERS_MAX = 4 * 1024 * 1024
/** At most so many answers of `all` are under way at once. */
export const LISTS_AT_ONCE_MAX = 2
