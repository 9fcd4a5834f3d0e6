/** Draws the spans of one trace as one SVG: each a bar below its parent, from its start to its end. */

export interface DrawnSpan {
  readonly service: string
  readonly name: string
  readonly spanId: string
  readonly parentId: string
  readonly startNs: string
  readonly endNs: string
  readonly status: string
  /** They stand beside the bar. */
  readonly notes: readonly string[]
}

interface Row {
  readonly span: DrawnSpan
  readonly depth: number
}

const WIDTH_PX = 1_180
const NAMES_PX = 430
const ROW_PX = 24
const HEAD_PX = 34
const INDENT_PX = 16
const BAR_PX = 12
const BAR_WIDTH_MIN_PX = 2
const MARGIN_PX = 12
const NOTE_ROOM_PX = 190
const SCALE_MARKS = 5
const COLOURS = ['#2f7ed8', '#3a9a48', '#8e5bb5', '#c2a100']
const FAILED = '#c2283f'

export function drawTrace(spans: readonly DrawnSpan[], title: string): string {
  const rows = toRows(spans)
  const services = [...new Set(rows.map(({ span }) => span.service))]
  const startNs = Math.min(...spans.map(({ startNs }) => Number(startNs)))
  const endNs = Math.max(...spans.map(({ endNs }) => Number(endNs)))
  const barsPx = WIDTH_PX - NAMES_PX - NOTE_ROOM_PX
  const toX = (ns: number): number => NAMES_PX + ((ns - startNs) / (endNs - startNs)) * barsPx
  const height = HEAD_PX + rows.length * ROW_PX + MARGIN_PX
  const drawRow = ({ span, depth }: Row, index: number): string[] => {
    const y = HEAD_PX + index * ROW_PX
    const hasFailed = span.status === 'ERROR'
    const colour = hasFailed ? FAILED : (COLOURS[services.indexOf(span.service) % COLOURS.length] ?? '')
    const [from, to] = [toX(Number(span.startNs)), toX(Number(span.endNs))]
    const width = Math.max(to - from, BAR_WIDTH_MIN_PX)
    const took = `${((Number(span.endNs) - Number(span.startNs)) / 1e6).toFixed(1)} ms`
    const notes = [took, ...span.notes].join(' · ')
    const left = MARGIN_PX + depth * INDENT_PX
    return [
      ...(index % 2 === 0 ? [`<rect y="${y}" width="${WIDTH_PX}" height="${ROW_PX}" fill="#f4f5f7"/>`] : []),
      `<rect x="${left}" y="${y + (ROW_PX - BAR_PX) / 2}" width="3" height="${BAR_PX}" fill="${colour}"/>`,
      write(left + 9, y + 16, `${span.name}`, hasFailed ? `font-weight="bold" fill="${FAILED}"` : ''),
      write(NAMES_PX - MARGIN_PX, y + 16, span.service, 'text-anchor="end" fill="#6b7280"'),
      `<rect x="${round(from)}" y="${y + (ROW_PX - BAR_PX) / 2}" width="${round(width)}" height="${BAR_PX}" rx="2" fill="${colour}"/>`,
      write(round(from + width) + 6, y + 16, notes, 'fill="#374151" font-size="11"'),
    ]
  }
  const marks = Array.from({ length: SCALE_MARKS }, (_, at) => {
    const ns = startNs + ((endNs - startNs) * at) / (SCALE_MARKS - 1)
    const label = `${((ns - startNs) / 1e6).toFixed(0)} ms`
    return [
      `<line x1="${round(toX(ns))}" x2="${round(toX(ns))}" y1="${HEAD_PX - 6}" y2="${height - MARGIN_PX}" stroke="#d8dbe0"/>`,
      write(round(toX(ns)), HEAD_PX - 12, label, 'text-anchor="middle" fill="#6b7280" font-size="11"'),
    ]
  }).flat()
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH_PX} ${height}" font-family="sans-serif" font-size="13">`,
    `<title>${escapeText(title)}</title>`,
    `<rect width="${WIDTH_PX}" height="${height}" fill="#fff"/>`,
    ...rows.flatMap(drawRow),
    ...marks,
    '</svg>',
    '',
  ].join('\n')
}

/** Each span stands behind its parent, and before those that started later. The root is the one whose parent is not there. */
function toRows(spans: readonly DrawnSpan[]): readonly Row[] {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const inOrder = spans.toSorted((one, other) => Number(one.startNs) - Number(other.startNs))
  const below = (parent: DrawnSpan | undefined, depth: number): Row[] =>
    inOrder
      .filter(({ parentId }) => (parent === undefined ? !ids.has(parentId) : parentId === parent.spanId))
      .flatMap((span) => [{ span, depth }, ...below(span, depth + 1)])
  return below(undefined, 0)
}

function write(x: number, y: number, text: string, attributes: string): string {
  return `<text x="${x}" y="${y}" ${attributes}>${escapeText(text)}</text>`
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function round(px: number): number {
  return Math.round(px * 10) / 10
}
