import type { TransactionSummary } from '@counterstep/protocol'
import { formatIso } from '../../parts/instants.ts'

type Cell = string | number | boolean | undefined

const COLUMNS: Readonly<Record<string, (row: TransactionSummary) => Cell>> = {
  gid: ({ gid }) => gid,
  name: ({ name }) => name,
  kind: ({ kind }) => kind,
  status: ({ status }) => status,
  problem: ({ problem }) => problem,
  attempts: ({ attempts }) => attempts,
  attention: ({ attention }) => attention,
  retrying: ({ retrying }) => retrying,
  paused: ({ paused }) => paused === true,
  byHand: ({ byHand }) => byHand === true,
  edited: ({ edited }) => edited === true,
  accepted: ({ createdAt }) => formatIso(createdAt),
  updated: ({ updatedAt }) => formatIso(updatedAt),
  tags: ({ tags }) =>
    Object.entries(tags ?? {})
      .map(([key, value]) => `${key}:${value}`)
      .join(' '),
}

/** A spreadsheet takes a cell that begins so for a formula, which may send others what the sheet has. */
const BEGINS_FORMULA = /^[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20]/
/** In many countries a spreadsheet begins a cell behind each semicolon, also within quotes. */
const BEGINS_FORMULA_BEHIND = /;(?=[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20])/g

/** Writes rows as RFC 4180 has them. No cell of them is a formula, whatever a gid, a name or a tag says. */
export function toCsv(rows: readonly TransactionSummary[]): string {
  const names = Object.keys(COLUMNS)
  const lines = rows.map((row) => names.map((name) => toCell(COLUMNS[name]?.(row))))
  return [names, ...lines].map((line) => `${line.join(',')}\r\n`).join('')
}

/** An apostrophe before it makes a spreadsheet take a cell as text. */
function toCell(value: Cell): string {
  const text = String(value ?? '')
  const begun = typeof value === 'string' && BEGINS_FORMULA.test(text) ? `'${text}` : text
  const safe = begun.replace(BEGINS_FORMULA_BEHIND, ";'")
  return /[",\r\n\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
