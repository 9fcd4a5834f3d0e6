/** A reduction takes parts away from a seed's world, to find out whether the smaller world still fails. */
import { FAULT_NAMES, type FaultName } from '../world/faults.ts'

export interface Reduction {
  readonly off: readonly FaultName[]
  /** The gids of transactions that are not submitted. */
  readonly dropped: readonly string[]
  /** The world heals then, if that is earlier than the seed's own heal. */
  readonly healAtMs?: number
}

export const WHOLE: Reduction = { off: [], dropped: [] }

/** A seed with its reduction. The list of regressions writes it as `4160 off=crashes,flaky drop=g1,t0 heal=1200`. */
export interface ReducedSeed {
  readonly seed: number
  readonly reduction: Reduction
}

export function formatSeed({ seed, reduction: { off, dropped, healAtMs } }: ReducedSeed): string {
  const parts = [`${seed}`]
  if (off.length > 0) parts.push(`off=${off.join(',')}`)
  if (dropped.length > 0) parts.push(`drop=${dropped.join(',')}`)
  if (healAtMs !== undefined) parts.push(`heal=${healAtMs}`)
  return parts.join(' ')
}

export function parseSeed(text: string): ReducedSeed {
  const [first = '', ...parts] = text.trim().split(/\s+/)
  const seed = Number(first)
  if (first === '' || !Number.isSafeInteger(seed)) throw new RangeError(`not a seed: ${text}`)
  let reduction = WHOLE
  for (const part of parts) {
    const [key, value = ''] = part.split('=')
    if (key === 'off') reduction = { ...reduction, off: value.split(',').map(faultName) }
    else if (key === 'drop') reduction = { ...reduction, dropped: value.split(',') }
    else if (key === 'heal' && Number.isSafeInteger(Number(value)))
      reduction = { ...reduction, healAtMs: Number(value) }
    else throw new RangeError(`neither off, drop nor heal: ${part}`)
  }
  return { seed, reduction }
}

function faultName(text: string): FaultName {
  const name = FAULT_NAMES.find((each) => each === text)
  if (name === undefined) throw new RangeError(`no fault ${text}; there are ${FAULT_NAMES.join(', ')}`)
  return name
}
