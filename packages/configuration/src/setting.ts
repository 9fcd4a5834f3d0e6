export type StoreFamily = 'sqlite' | 'mysql' | 'redis'

/** What one setting's text turned into: a value, or what is wrong with it. */
export type Parsed<Value> = { readonly value: Value } | { readonly problem: string }

/** One thing a user may set, by a flag or by an environment variable. */
export interface Setting<Value> {
  /** `--${flag}`. */
  readonly flag: string
  /** `COUNTERSTEP_…`. */
  readonly variable: string
  readonly help: string
  /** In the words that `parse` understands. */
  readonly fallback: string
  readonly parse: (text: string) => Parsed<Value>
  /** The stores that it is for; absent: whatever the store. */
  readonly stores?: readonly StoreFamily[]
  /** Its flag stands alone and means `true`. */
  readonly isSwitch?: true
}

export function setting<Value>(
  flag: string,
  fallback: string | number,
  help: string,
  parse: (text: string) => Parsed<Value>,
): Setting<Value> {
  const variable = `COUNTERSTEP_${flag.toUpperCase().replaceAll('-', '_')}`
  return { flag, variable, help, fallback: String(fallback), parse }
}

/** A setting that is refused by name when the store is another one: set in vain, it would be a misunderstanding. */
export function forStores<Value>(stores: readonly StoreFamily[], setting: Setting<Value>): Setting<Value> {
  return { ...setting, stores }
}

/** `--flag` alone turns it on; its variable says true or false. */
export function switchSetting(flag: string, help: string): Setting<boolean> {
  return { ...setting(flag, 'false', help, trueOrFalse), isSwitch: true }
}

function trueOrFalse(text: string): Parsed<boolean> {
  return text === 'true' || text === 'false'
    ? { value: text === 'true' }
    : { problem: 'must be true or false' }
}

export function wholeNumber(min: number, max: number): (text: string) => Parsed<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max
      ? { value }
      : { problem: `must be a whole number from ${min} to ${max}` }
  }
}

export function decimal(min: number, max: number): (text: string) => Parsed<number> {
  return (text) => {
    const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? { value } : { problem: `must be a number from ${min} to ${max}` }
  }
}

/** One word that stands beside the values of another parser, e.g. `never`. */
export function orWord<Value, Meaning>(
  word: string,
  meaning: Meaning,
  parse: (text: string) => Parsed<Value>,
): (text: string) => Parsed<Value | Meaning> {
  return (text) => {
    if (text === word) return { value: meaning }
    const parsed = parse(text)
    return 'problem' in parsed ? { problem: `${parsed.problem}, or "${word}"` } : parsed
  }
}

/** An empty text means that the setting is not set, and what then holds is for its user to say. */
export function orUnset<Value>(
  parse: (text: string) => Parsed<Value>,
): (text: string) => Parsed<Value | undefined> {
  return (text) => (text === '' ? { value: undefined } : parse(text))
}

export function oneOf<const Word extends string>(...words: readonly Word[]): (text: string) => Parsed<Word> {
  return (text) => {
    const value = words.find((word) => word === text)
    return value === undefined ? { problem: `must be one of ${words.join(', ')}` } : { value }
  }
}

export function nonEmpty(text: string): Parsed<string> {
  return text.trim() === '' ? { problem: 'must not be empty' } : { value: text }
}
