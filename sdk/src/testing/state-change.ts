/** The change of a state that `read` showed, as a text by which two changes can be compared. */
export interface StateChange {
  readonly text: string
  /** True if only numbers and lengths have changed, because then it shows whether the same change happened twice. */
  readonly isCountable: boolean
}

export const NOTHING = 'nothing'

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

const DECIMAL = /^-?\d{1,40}(\.\d{1,20})?$/
const SCALE = 20

/**
 * Writes the state as JSON, in which every gid is replaced by the same text. Throws a TypeError for a value that JSON
 * cannot hold.
 */
export function writeState(state: unknown, gid: string): string {
  const json = JSON.stringify(state ?? null, (_name, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  if (json === undefined) throw new TypeError(`read returned a ${typeof state}, which is no JSON`)
  return json.replaceAll(gid, '<gid>')
}

export function findChange(before: string, after: string): StateChange {
  const changes = differences('', JSON.parse(before), JSON.parse(after))
  if (changes.length === 0) return { text: NOTHING, isCountable: false }
  return {
    text: changes.map(({ text }) => text).join(', '),
    isCountable: changes.every(({ isCountable }) => isCountable),
  }
}

function differences(path: string, before: Json, after: Json): StateChange[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  const delta = subtractDecimals(before, after)
  if (delta !== undefined) return [{ text: `${path}${delta}`, isCountable: true }]
  if (Array.isArray(before) && Array.isArray(after)) {
    const grown = after.length - before.length
    if (grown !== 0) return [{ text: `${path}${signed(grown)} in the list`, isCountable: true }]
  }
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    return names.flatMap((name) => differences(`${path}${name} `, before[name] ?? null, after[name] ?? null))
  }
  return [{ text: `${path}${JSON.stringify(before)} → ${JSON.stringify(after)}`, isCountable: false }]
}

/** Lists count as objects, too, so that two lists of the same length are compared place by place. */
function isObject(value: Json): value is { readonly [name: string]: Json } {
  return typeof value === 'object' && value !== null
}

/** Subtracts exactly, since 0.3 − 0.2 is not 0.2 − 0.1 in binary. Returns undefined unless both are decimals. */
function subtractDecimals(before: Json, after: Json): string | undefined {
  const from = scaled(before)
  const to = scaled(after)
  if (from === undefined || to === undefined) return undefined
  const delta = to - from
  const digits = String(delta < 0n ? -delta : delta).padStart(SCALE + 1, '0')
  const fraction = digits.slice(-SCALE).replace(/0+$/, '')
  const whole = digits.slice(0, -SCALE)
  return `${delta < 0n ? '-' : '+'}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

function scaled(value: Json): bigint | undefined {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || !DECIMAL.test(text)) return undefined
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(SCALE, '0'))
}

function signed(count: number): string {
  return count > 0 ? `+${count}` : String(count)
}
