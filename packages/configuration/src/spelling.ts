import { toFlag, toVariable } from './setting.ts'
import type { AnyName } from './settings.ts'

/** Spells a setting, and a value if one is given, in the way in which the user has to write it. */
export type Spelling = (name: AnyName, value?: string) => string

export const asFlag: Spelling = (name, value) =>
  value === undefined || value === 'true' ? `--${toFlag(name)}` : `--${toFlag(name)} ${value}`

export const asVariable: Spelling = (name, value) =>
  value === undefined ? toVariable(name) : `${toVariable(name)}=${value}`
