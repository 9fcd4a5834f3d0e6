import {
  type BarTone,
  chooseTicks,
  foldGaps,
  formatDuration,
  type LaneBars,
  listInstants,
  NO_SIGNAL,
  type Piece,
  toLaneBars,
  toShare,
} from '@counterstep/explain'
import type { OpView, TransactionView } from '@counterstep/protocol'
import { cleanLine } from './clean-text.ts'
import { cutText, pad } from './write-table.ts'

const LABEL_LENGTH_MAX = 24
const RESULT_LENGTH = 34
const CHART_LENGTH_MIN = 20
const LONGEST_ANSWER = 24

const TONES: Readonly<Record<BarTone, string>> = {
  done: '█',
  refused: '▒',
  unknown: '▓',
  ongoing: '░',
  calling: '▶',
  open: '·',
  hand: 'H',
}
const LEGEND =
  '█ done  ▒ refused  ▓ no definite answer  ░ not yet  ▶ being called  · waits  H by hand  ┄◷ next attempt  ┊ folded'

/** Draws when each call ran, in lines of at most `width` characters. Long waits are folded, and say how long they are. */
export function writeWaterfall(view: TransactionView, now: number, width: number): readonly string[] {
  const end = view.finishedAt ?? Math.max(now, view.updatedAt)
  const lanes = toLaneBars(view, end)
  if (lanes.length === 0) return ['It has no branches yet.']
  const pieces = foldGaps(listInstants(view, lanes, end))
  const labels = lanes.map(({ lane }) =>
    cutText(`${lane.isFirst ? '' : '  '}${cleanLine(lane.label)}`, LABEL_LENGTH_MAX),
  )
  const labelLength = labels.reduce((widest, label) => Math.max(widest, [...label].length), 0)
  const chartLength = Math.max(CHART_LENGTH_MIN, width - labelLength - RESULT_LENGTH - 2)
  const rows = lanes.map((lane, at) => {
    const chart = drawLane(lane, pieces, chartLength)
    const result = cutText(describeResult(lane, end), RESULT_LENGTH)
    return `${pad(labels[at] ?? '', labelLength)} ${chart} ${result}`.trimEnd()
  })
  return [`${' '.repeat(labelLength)} ${drawAxis(pieces, chartLength)}`.trimEnd(), ...rows, LEGEND]
}

function drawAxis(pieces: readonly Piece[], length: number): string {
  const line = Array.from({ length }, () => ' ')
  for (const { share, label, isFold } of chooseTicks(pieces)) {
    const text = isFold ? `┊${label}┊` : label
    const wanted = Math.round(share * (length - 1)) - (isFold ? Math.floor(text.length / 2) : 0)
    const from = Math.max(0, Math.min(wanted, length - text.length))
    const isFree = line.slice(Math.max(0, from - 1), from + text.length + 1).every((each) => each === ' ')
    if (isFree) line.splice(from, text.length, ...text)
  }
  return line.join('')
}

function drawLane({ bars, nextAt }: LaneBars, pieces: readonly Piece[], length: number): string {
  const line = Array.from({ length }, () => ' ')
  const toColumn = (at: number) => Math.min(length - 1, Math.floor(toShare(pieces, at) * length))
  for (const { isFolded, left, right } of pieces) {
    if (isFolded) line[Math.min(length - 1, Math.floor(((left + right) / 2) * length))] = '┊'
  }
  const last = bars.at(-1)
  if (nextAt !== undefined && last !== undefined) {
    fill(line, toColumn(last.to), toColumn(nextAt), '┄')
    line[toColumn(nextAt)] = '◷'
  }
  for (const { from, to, tone } of bars) fill(line, toColumn(from), toColumn(to), TONES[tone])
  return line.join('')
}

function fill(line: string[], from: number, to: number, character: string): void {
  for (let at = from; at <= to; at++) if (line[at] !== '┊' || from === to) line[at] = character
}

function describeResult({ lane, nextAt }: LaneBars, now: number): string {
  const { op } = lane
  if (op.byHand !== undefined) return `✋ done by ${op.byHand.doneBy === 'hand' ? 'hand' : 'the service'}`
  if (op.state === 'by-hand') return '⚠ to be undone by hand'
  if (op.state === 'open') return `waits for ${cleanLine(lane.waits ?? 'its time')}`
  const took = op.durationMs === undefined ? '' : `${formatDuration(op.durationMs)} `
  if (op.state === 'succeeded' && op.error === NO_SIGNAL) return '✓ no signal came'
  if (op.state === 'succeeded') return `${took}✓${op.attempts > 1 ? ` at attempt ${op.attempts}` : ''}`
  if (op.state === 'failed') return `${took}✗ ${readAnswer(op)}`
  if (op.state === 'calling') return op.attempts > 1 ? `attempt ${op.attempts}` : ''
  if (op.state !== 'waiting') return ''
  const next =
    nextAt === undefined ? '' : `, next ${nextAt <= now ? 'is due' : `in ${formatDuration(nextAt - now)}`}`
  return `${readAnswer(op)}, attempt ${op.attempts}${next}`
}

function readAnswer({ error, statusCode, runs }: OpView): string {
  const known = error ?? (statusCode === undefined ? runs?.at(-1)?.outcome : String(statusCode))
  return cutText(cleanLine(known ?? ''), LONGEST_ANSWER)
}
