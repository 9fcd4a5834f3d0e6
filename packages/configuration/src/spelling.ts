import { toFlag, toVariable } from './setting.ts'
import type { AnyName } from './settings.ts'

/** How advice names a setting, with a value where that says more: as its reader has to write it. */
export type Spelling = (name: AnyName, value?: string) => string

export const asFlag: Spelling = (name, value) =>
  value === undefined || value === 'true' ? `--${toFlag(name)}` : `--${toFlag(name)} ${value}`

export const asVariable: Spelling = (name, value) =>
  value === undefined ? toVariable(name) : `${toVariable(name)}=${value}`
