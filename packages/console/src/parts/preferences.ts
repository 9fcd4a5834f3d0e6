export type Theme = 'system' | 'light' | 'dark'

/** A person chose these for this browser. Nothing of them is secret. */
export interface Preferences {
  readonly theme: Theme
  /** Single keys act as shortcuts. */
  readonly keys: boolean
}

const NAME = 'counterstep'
const DEFAULTS: Preferences = { theme: 'system', keys: true }

export function readPreferences(): Preferences {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(NAME) ?? '{}')
    return typeof value === 'object' && value !== null ? { ...DEFAULTS, ...value } : DEFAULTS
  } catch {
    // A browser may refuse storage, and then every visit begins with the defaults.
    return DEFAULTS
  }
}

export function writePreferences(changed: Partial<Preferences>): void {
  const next = { ...readPreferences(), ...changed }
  try {
    localStorage.setItem(NAME, JSON.stringify(next))
  } catch {
    // The same: the choice then lasts as long as the page.
    return
  }
}
