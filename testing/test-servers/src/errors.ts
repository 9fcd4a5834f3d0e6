/** This machine has no server of this kind. Tests are skipped with the message as their reason. */
export class ServerMissingError extends Error {
  override readonly name = 'ServerMissingError'
  /** A run with CI=true may go on without the server, because the run could not have made it available. */
  readonly isExcused: boolean

  constructor(reason: string, isExcused = false) {
    super(reason)
    this.isExcused = isExcused
  }
}

/** A server was found, but did not start or did not end. */
export class ServerFailedError extends Error {
  override readonly name = 'ServerFailedError'
}
