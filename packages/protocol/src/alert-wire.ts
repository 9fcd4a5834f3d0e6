/** Says what an alert tells. The JSON webhook sends it as it is, so its fields are a contract with the receivers. */

/** An operator chooses among these what a target is told. */
export const ALERT_RULES = ['attention', 'failed', 'stuck', 'paused', 'store', 'bulk'] as const
export type AlertRule = (typeof ALERT_RULES)[number]

/** Targets of every rule are told how many alerts were held back. `test` is sent only when a person asks for it. */
export type AlertTopic = AlertRule | 'digest' | 'test'

/**
 * `open`: it has begun. `grown`: it is tenfold of what was told last. `over`: it has not been seen for two minutes. A digest
 * and a test are always `open`.
 */
export const ALERT_STATES = ['open', 'grown', 'over'] as const
export type AlertState = (typeof ALERT_STATES)[number]

/** The transactions that tell of alerts have this name, which no submit may use. */
export const ALERT_NAME = 'counterstep.alert'

const ALERT_GID = /^alert-[a-z]+-[0-9a-f]{16}-\d+$/

/**
 * Tells whether a gid has the form of an alert's, which every node finds from what the alert is about. No submit may use one:
 * who had it first would keep that alert from being told.
 */
export function isAlertGid(gid: string): boolean {
  return ALERT_GID.test(gid)
}

/** A webhook gets its body in one of these forms. */
export const ALERT_FORMATS = ['json', 'slack'] as const
export type AlertFormat = (typeof ALERT_FORMATS)[number]

/** Transactions without a name are counted under this one. */
export const WITHOUT_NAME = '-'

/** An alert shows the gids of this many transactions at most, and as many names. */
export const ALERT_SAMPLES_MAX = 5

/** The facts of an alert, without a sentence. */
export interface AlertFacts {
  readonly rule: AlertTopic
  readonly state: AlertState
  /**
   * Names what it is about: the problem's text for `attention`, the name for `failed`, `overdue` or `unfinished` for `stuck`, the
   * event's name for `store`, the job's id for `bulk`.
   */
  readonly problem: string
  readonly count: number
  /** The count that was told last, where `state` is `grown`. */
  readonly before?: number
  /** All of which `count` is a part, where `rule` is `failed`. */
  readonly total?: number
  /** Epoch milliseconds. */
  readonly since: number
  readonly names: readonly string[]
  readonly sampleGids: readonly string[]
}

/** The body of a JSON webhook. It has no payload and no answer of a service. */
export interface AlertBody extends AlertFacts {
  readonly headline: string
  readonly advice: string
  /** It opens the console where the alert can be looked into. */
  readonly link: string
}
