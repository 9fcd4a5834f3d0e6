import { LIST_LIMIT_MAX } from '@counterstep/protocol'

/** Rows of one look at the store. */
export const LIST_PAGE = LIST_LIMIT_MAX
/** Rows of one answer, where DTM knows no bound. */
export const LIST_ROWS_MAX = 1_000
/** Whole transactions that are read at once for a list. */
export const READS_AT_ONCE = 20
