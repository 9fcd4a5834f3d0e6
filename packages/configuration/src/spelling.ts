import type { Setting } from './setting.ts'

/** How advice names a setting, with a value where that says more: as its reader has to write it. */
export type Spelling = (
  setting: Pick<Setting<unknown>, 'flag' | 'variable' | 'isSwitch'>,
  value?: string,
) => string

export const asFlag: Spelling = ({ flag, isSwitch }, value) =>
  value === undefined || isSwitch === true ? `--${flag}` : `--${flag} ${value}`

export const asVariable: Spelling = ({ variable }, value) =>
  value === undefined ? variable : `${variable}=${value}`
