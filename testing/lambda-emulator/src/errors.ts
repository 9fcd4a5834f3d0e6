/** The runtime client is missing and cannot be built here. The message is shown where tests are skipped for it. */
export class RuntimeClientMissingError extends Error {
  override readonly name = 'RuntimeClientMissingError'
  /** If it is true, a run with CI=true may skip these tests: there is no compiler, and none can be installed. */
  readonly isExcused: boolean

  constructor(reason: string, excuse: 'excused' | 'not excused') {
    super(`no runtime client of Lambda here: ${reason}`)
    this.isExcused = excuse === 'excused'
  }
}
