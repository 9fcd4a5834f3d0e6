import { type ErrorCode, isCounterstepError } from '@counterstep/protocol'

export interface StartFailure {
  /** Only our own errors have a code. They need no stack in the log, since their sentence says everything. */
  readonly code?: string
  readonly sentence: string
}

/** The stores cannot give these hints, since they know no flags. */
const HINTS: Partial<Readonly<Record<ErrorCode, string>>> = {
  SAGA_STORE_NOT_DURABLE:
    '--store-accept-class-c starts all the same; what a Redis hides is told by --store-durability',
  SAGA_STORE_SCHEMA: 'see counterstep migrate --help',
}

/** TLS is the default beyond this machine, so a user who meets its errors may never have asked for it. */
const TLS_WORDS = /certificate|\b(?:TLS|SSL)\b|secure connection/i
const TLS_HINT = '--store-tls-ca names the certificates to trust, --store-tls off goes without'

const RIGHTS_WORDS = /: user \d+ may not (?:read|write) /
const RIGHTS_HINT = '--data names another folder, which the user that starts the server must own'

/** Shows the texts of our own errors and of system calls. Other errors may quote their input, even a password. */
export function describeFailure(error: unknown): StartFailure {
  if (isCounterstepError(error)) {
    const { code, message } = error
    const asides = [findCauseCode(error), HINTS[code] ?? findHint(message)].filter(
      (aside) => aside !== undefined,
    )
    return { code, sentence: `${code}: ${message}${asides.map((aside) => ` (${aside})`).join('')}` }
  }
  if (!(error instanceof Error)) return { sentence: `an unexpected ${typeof error}` }
  return { sentence: 'syscall' in error ? error.message : `an unexpected ${error.name}` }
}

function findHint(message: string): string | undefined {
  if (RIGHTS_WORDS.test(message)) return RIGHTS_HINT
  return TLS_WORDS.test(message) ? TLS_HINT : undefined
}

/** Finds the code of the error's cause, unless the error's message has it already. */
function findCauseCode({ message, cause }: Error): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause) || typeof cause.code !== 'string') return undefined
  return message.includes(cause.code) ? undefined : cause.code
}
