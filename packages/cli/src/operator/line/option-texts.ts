import { isBranchId, OPS, type Op } from '@counterstep/protocol'

const UNITS_MS = { s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const
type Unit = keyof typeof UNITS_MS

export function isWholeNumber(text: string, least: number, most: number): boolean {
  return /^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most
}

export function isInstantText(text: string): boolean {
  return readSpanMs(text) !== undefined || readInstant(text) !== undefined
}

/** Reads an instant, or a span before `now` (or, for `sign` 1, after it). Throws for a text that is neither. */
export function toInstant(text: string, now: number, sign: 1 | -1): number {
  const spanMs = readSpanMs(text)
  const at = spanMs === undefined ? readInstant(text) : now + sign * spanMs
  if (at === undefined) throw new TypeError('an instant was not checked')
  return at
}

function readSpanMs(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6})(s|min|h|d)$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * UNITS_MS[unit as Unit]
}

function readInstant(text: string): number | undefined {
  // Ten digits are seconds, such as those of `date +%s`.
  if (/^\d{13}$/.test(text)) return Number(text)
  // Without its offset a date would be read by the clock of this machine.
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

/** Reads a pair such as `region:eu`. */
export function readPair(text: string): readonly [name: string, value: string] {
  const at = text.indexOf(':')
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

export function isOpText(text: string): boolean {
  return readOp(text) !== undefined
}

/** Reads `debit.compensate`. A branch id may have points itself. */
export function readOp(text: string): { readonly branchId: string; readonly op: Op } | undefined {
  const at = text.lastIndexOf('.')
  const branchId = text.slice(0, Math.max(at, 0))
  const op = OPS.find((each) => each === text.slice(at + 1))
  return op !== undefined && isBranchId(branchId) ? { branchId, op } : undefined
}
