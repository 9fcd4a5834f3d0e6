/** No server of this kind can be had here. Its message is the reason by which tests are skipped. */
export class ServerMissingError extends Error {
  override readonly name = 'ServerMissingError'
  /** Whether a run with CI=true may do without it, because nothing that the run could have is missing. */
  readonly isExcused: boolean

  constructor(reason: string, isExcused = false) {
    super(reason)
    this.isExcused = isExcused
  }
}

/** A server was found and did not come up, or did not go down. */
export class ServerFailedError extends Error {
  override readonly name = 'ServerFailedError'
}
