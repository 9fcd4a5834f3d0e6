/** The commands of operators, in the words of the trail. `submit` and `abort` stand there only if an operator gave them. */
export const OPERATOR_COMMANDS = [
  'retry',
  'retry-op',
  'pause',
  'resume',
  'abort',
  'submit',
  'stop',
  'skip',
  'edit',
] as const
export type OperatorCommand = (typeof OPERATOR_COMMANDS)[number]

/** The commands that a bulk job may give. */
export const BULK_COMMANDS = ['retry', 'pause', 'resume', 'abort'] as const
export type BulkCommand = (typeof BULK_COMMANDS)[number]

/**
 * `canary`: the first few get the command. `watching`: it is seen how they get on. `running`: all others get it.
 * `reading-back`: all have got it, and some have not been answered yet.
 */
export const BULK_STATES = [
  'canary',
  'watching',
  'running',
  'reading-back',
  'paused',
  'done',
  'cancelled',
] as const
export type BulkState = (typeof BULK_STATES)[number]

/** A bulk request may name this many transactions one by one. */
export const BULK_NAMED_MAX = 1_000
/** One job acts on at most this many transactions. */
export const BULK_GIDS_MAX = 10_000
/** The list of a preview in short has so many characters for each transaction. */
export const BULK_MARK_LENGTH = 8
export const BULK_PREVIEWED_LENGTH_MAX = BULK_MARK_LENGTH * BULK_GIDS_MAX
export const BULK_RATE_PER_SECOND_MAX = 500

/** A command that would be refused, as its answer would say. */
export interface CommandFault {
  readonly code: string
  readonly detail: string
}

export const COMMAND_ID_LENGTH_MAX = 64
/** Retries of one caller in a row are one entry. A trail of 64 is full: it refuses a pause, and further commands of one kind are one entry. */
export const TRAIL_ENTRIES_MAX = 72
/** The attempts of one op are remembered as this many runs. Beyond it the two oldest merge. */
export const ATTEMPT_RUNS_MAX = 8
export const RUN_EXCERPT_LENGTH_MAX = 200
/** A trail describes what a skip or an edit replaced in at most this many characters. */
export const TRAIL_CHANGE_LENGTH_MAX = 512
/** All edits together that one transaction keeps. */
export const EDITS_BYTES_MAX = 512 * 1024
export const NAME_LENGTH_MAX = 64
export const TAGS_MAX = 8
export const TAG_KEY_LENGTH_MAX = 32
export const TAG_VALUE_LENGTH_MAX = 64
/** The stores' column has room for this. A longer text is cut. */
export const PROBLEM_LENGTH_MAX = 255
/** More problems than this are counted together as `other`. */
export const PROBLEMS_MAX = 200
