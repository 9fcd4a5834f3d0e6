import { RETRY_CAP_MS_MAX, RETRY_LIMIT_MAX, type RetryPolicy } from '@counterstep/protocol'
import { type Faults, isRecord, readInteger, refuseUnknownFields } from './faults.ts'

const FIELDS = new Set(['initialMs', 'factor', 'capMs', 'jitter', 'limit'])
const FACTOR_MAX = 100

/** Reads a retry policy. Fields that the request leaves out come from `base`. */
export function parseRetry(value: unknown, base: RetryPolicy, path: string, faults: Faults): RetryPolicy {
  if (value === undefined) return base
  if (!isRecord(value)) {
    faults.add('SAGA_RETRY_INVALID', path, 'must be an object')
    return base
  }
  refuseUnknownFields(value, FIELDS, path, faults)
  const wait = { min: 1, max: RETRY_CAP_MS_MAX }
  const code = 'SAGA_RETRY_INVALID'
  const initialMs =
    readInteger(value.initialMs, wait, { code, path: `${path}/initialMs` }, faults) ?? base.initialMs
  const capMs = readInteger(value.capMs, wait, { code, path: `${path}/capMs` }, faults)
  if (capMs !== undefined && capMs < initialMs)
    faults.add(code, `${path}/capMs`, 'must not be below initialMs')
  const limit =
    value.limit === null
      ? null
      : readInteger(value.limit, { min: 1, max: RETRY_LIMIT_MAX }, { code, path: `${path}/limit` }, faults)
  return {
    initialMs,
    capMs: capMs ?? Math.max(base.capMs, initialMs),
    factor: readNumber(value.factor, 1, FACTOR_MAX, `${path}/factor`, faults) ?? base.factor,
    jitter: readNumber(value.jitter, 0, 1, `${path}/jitter`, faults) ?? base.jitter,
    limit: limit === undefined ? base.limit : limit,
  }
}

function readNumber(
  value: unknown,
  min: number,
  max: number,
  path: string,
  faults: Faults,
): number | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'number' && value >= min && value <= max) return value
  return faults.add('SAGA_RETRY_INVALID', path, `must be a number from ${min} to ${max}`)
}
