import { randomBytes } from 'node:crypto'

export type Values = Readonly<Record<string, string>>

export function freshValues(busi: string): Values {
  const hex = () => randomBytes(8).toString('hex')
  return { gid: `golden-${hex()}`, gid2: `golden-${hex()}`, topic: `topic${hex()}`, busi }
}

export function fill(text: string, values: Values): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => values[name] ?? whole)
}

const PATTERNS: Readonly<Record<string, string>> = {
  time: String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)`,
  id: String.raw`[1-9]\d{0,9}`,
  gid: '[A-Za-z0-9]{22}',
  position: '[^"]+',
  number: String.raw`\d+(?:\.\d+)?(?:e[+-]\d+)?`,
}

/** Tells whether a text is as recorded. A `{{*…}}` in the recorded text stands for a part that differs each time. */
export function matches(actual: string, recorded: string, values: Values): boolean {
  // Our answers have no `owner`, since a client could not use it.
  const expected = fill(recorded.replaceAll('"owner":"{{*owner}}",', ''), values)
  const pattern = expected
    .split(/(\{\{\*\w+\}\})/)
    .map((part) => {
      const [, name = ''] = /^\{\{\*(\w+)\}\}$/.exec(part) ?? []
      return PATTERNS[name] ?? part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    })
    .join('')
  return new RegExp(`^${pattern}$`, 'u').test(actual)
}
