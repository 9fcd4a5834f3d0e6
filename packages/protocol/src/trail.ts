/** The types of what a transaction shows of its past: who commanded what, and how the attempts of an op ended. */
import type { OperatorCommand } from './operator-words.ts'
import type { Op, Status } from './words.ts'

/** Says who gave a command. */
export interface Actor {
  /** It is absent where no key is needed. */
  readonly key?: { readonly id: string; readonly name: string }
  /** The name that the person gave at the login. It is what that person says, and is not proven. */
  readonly person?: string
  readonly via: 'console' | 'api' | 'dtm' | 'bulk' | 'local'
}

/** A row of attempts of one op that had the same outcome. */
export interface AttemptRun {
  /** A status such as `500`, or a word such as `timeout`. It is `mixed` where older runs were merged. */
  readonly outcome: string
  /** The number of the first attempt. */
  readonly from: number
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
  /** The beginning of the last answer, at most 200 characters. */
  readonly excerpt?: string
}

/** A person has said that the op is done, instead of an answer. */
export interface ByHandView {
  readonly at: number
  /** `service`: the service has done it, so its compensation undoes it. `hand`: a person has done it elsewhere. */
  readonly doneBy: 'service' | 'hand'
}

export interface PauseView {
  readonly at: number
  /** The pause ends at this instant. Absent: it ends by a resume. */
  readonly until?: number
  readonly by: Actor
}

/** One command in the history of a transaction. It is stored together with what the command changed. */
export interface TrailEntry {
  /** The id of the command. The same id again is the same command. */
  readonly id: string
  readonly at: number
  readonly by: Actor
  readonly command: OperatorCommand
  readonly op?: { readonly branchId: string; readonly op: Op }
  readonly reason?: string
  /** The status that the transaction had. */
  readonly from: Status
  /** They say what a skip or an edit replaced and what it put there, in at most 512 characters. A payload stands as its hash and size. */
  readonly before?: string
  readonly after?: string
  /** The confirmation that was given with the command. */
  readonly confirm?: string
  /** Retries of one caller in a row are one entry. */
  readonly count?: number
  /** The bulk job that gave it. */
  readonly bulk?: string
}
