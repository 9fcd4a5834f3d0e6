/** The runtime client cannot be had here. Its message is the reason by which tests are skipped. */
export class RuntimeClientMissingError extends Error {
  override readonly name = 'RuntimeClientMissingError'
  /** Whether a run with CI=true may do without it: no compiler is here, and none can be installed. */
  readonly isExcused: boolean

  constructor(reason: string, excuse: 'excused' | 'not excused') {
    super(`no runtime client of Lambda here: ${reason}`)
    this.isExcused = excuse === 'excused'
  }
}
