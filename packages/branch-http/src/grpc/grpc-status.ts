import type { Result } from '@counterstep/protocol'

/** These are the codes of gRPC that decide a result. */
const OK = 0
const FAILED_PRECONDITION = 9
const ABORTED = 10
const UNKNOWN = 2
const CODE_MAX = 16

/** The services of DTM's older clients say so that their work goes on. */
const ONGOING = 'ONGOING'

export interface GrpcStatus {
  readonly code: number
  readonly message: string
}

/** Reads the status of an answer. Returns undefined for headers that have none. */
export function readGrpcStatus(headers: Readonly<Record<string, unknown>>): GrpcStatus | undefined {
  const text = headers['grpc-status']
  if (typeof text !== 'string' || !/^\d{1,3}$/.test(text)) return undefined
  const code = Number(text)
  return { code: code > CODE_MAX ? UNKNOWN : code, message: decodeMessage(headers['grpc-message']) }
}

/** Reads the result as DTM does: a status with another code is unknown, whatever its message says. */
export function toResult({ code, message }: GrpcStatus): Result {
  if (code === OK) return 'success'
  if (code === FAILED_PRECONDITION) return 'ongoing'
  if (code === ABORTED) return message === ONGOING ? 'ongoing' : 'failure'
  return 'unknown'
}

/** People are shown the HTTP status that means the same to a service. */
export function toStatusCode(result: Result): number | undefined {
  switch (result) {
    case 'success':
      return 200
    case 'failure':
      return 409
    case 'ongoing':
      return 425
    case 'unknown':
      return undefined
  }
}

/** A message that is not encoded as it should be is shown as it came. */
function decodeMessage(text: unknown): string {
  if (typeof text !== 'string') return ''
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
