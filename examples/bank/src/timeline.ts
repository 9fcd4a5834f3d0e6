import type { OpView, TransactionView } from '@counterstep/sdk'

const BAR_CELLS = 32
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const
const MARKS = { success: '✓', failure: '✗', ongoing: '…', unknown: '?' } as const

interface Line {
  readonly branchId: string
  readonly op: OpView
  readonly isWait: boolean
  readonly startedAt: number
  readonly endedAt: number
}

/**
 * A transaction as a table for the terminal: one line for each op that was called, in the order of their starts, with
 * a bar that shows when it began and how long all its attempts took. An op that still runs reaches to the end.
 */
export function renderTimeline(view: TransactionView): string {
  const endAt = view.finishedAt ?? Math.max(view.updatedAt, ...listEnds(view))
  const lines = view.branches.flatMap((branch) =>
    branch.ops.flatMap((op): Line[] =>
      op.startedAt === undefined
        ? []
        : [
            {
              branchId: branch.id,
              op,
              isWait: branch.wait !== undefined,
              startedAt: op.startedAt,
              endedAt: readEndedAt(op, endAt),
            },
          ],
    ),
  )
  // The sort is stable: what started in one millisecond stays in the order of the branches.
  lines.sort((a, b) => a.startedAt - b.startedAt)
  const rows = lines.map((line) => [...toCells(line), toBar(line, view.createdAt, endAt)])
  return [
    ...table([['branch', 'op', 'attempts', 'result', 'status', 'ms', ''], ...rows]),
    toSummary(view, endAt),
  ].join('\n')
}

function listEnds(view: TransactionView): number[] {
  return view.branches.flatMap((branch) => branch.ops.map((op) => op.endedAt ?? op.startedAt ?? 0))
}

function readEndedAt(op: OpView, endAt: number): number {
  const isOver = op.state === 'succeeded' || op.state === 'failed'
  return isOver && op.endedAt !== undefined ? op.endedAt : endAt
}

function toCells({ branchId, op, isWait, startedAt, endedAt }: Line): string[] {
  const result = op.result === undefined ? op.state : `${MARKS[op.result]} ${op.result}`
  const status = op.error ?? op.statusCode?.toString() ?? '-'
  return [branchId, isWait ? 'wait' : op.op, String(op.attempts), result, status, String(endedAt - startedAt)]
}

/** Numbers stand to the right, words to the left. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0
        return column === 2 || column === 5 ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd(),
  )
}

function toBar({ startedAt, endedAt }: Line, createdAt: number, endAt: number): string {
  const eighthsPerMs = (BAR_CELLS * 8) / Math.max(endAt - createdAt, 1)
  const offset = clamp(Math.floor(((startedAt - createdAt) * eighthsPerMs) / 8), 0, BAR_CELLS - 1)
  const end = clamp(Math.round((endedAt - createdAt) * eighthsPerMs), offset * 8 + 1, BAR_CELLS * 8)
  const length = end - offset * 8
  return ' '.repeat(offset) + '█'.repeat(length >> 3) + (EIGHTHS[length & 7] ?? '')
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max)
}

function toSummary(view: TransactionView, endAt: number): string {
  const { abort, attention } = view
  const tookMs = endAt - view.createdAt
  const where = abort?.branchId === undefined ? '' : ` at ${abort.branchId}`
  const why = abort === undefined ? '' : ` (${abort.cause}${where})`
  const look = attention === undefined ? '' : `, attention: ${attention}`
  return `${view.status}${why} ${view.finishedAt === undefined ? 'after' : 'in'} ${tookMs} ms${look}`
}
