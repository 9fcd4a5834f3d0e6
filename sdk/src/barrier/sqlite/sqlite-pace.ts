import type { RepeatPace } from '../repeat-contended.ts'

/**
 * Bounded by its time alone: a call that finds the file or the connection taken has done nothing yet, and nobody keeps a
 * queue, so that another writer who hardly pauses has it at most of the times that one looks.
 */
export const SQLITE_PACE: RepeatPace = { repeatsMax: Number.POSITIVE_INFINITY, pauseMsMax: 50 }
