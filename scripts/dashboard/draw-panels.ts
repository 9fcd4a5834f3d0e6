/** Draws the panels of the dashboard, with what a Prometheus answered, as one SVG. */

export interface Answered {
  readonly type: string
  readonly title: string
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>
  readonly unit?: string
  readonly answers: readonly {
    readonly legend: string
    readonly samples: readonly {
      readonly metric: Readonly<Record<string, string>>
      readonly values: readonly (readonly [number, string])[]
    }[]
  }[]
}

export interface Span {
  readonly from: number
  readonly to: number
}

interface Line {
  readonly name: string
  readonly points: readonly (readonly [number, number])[]
}

interface Box {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
}

const COLUMN_PX = 52
const ROW_PX = 27
const GAP_PX = 4
const PADDING_PX = 10
const TITLE_PX = 26
const LEGEND_LINE_PX = 14
const LEGEND_LINES_MAX = 4
const AXIS_PX = 52
const COLOURS = ['#2f7ed8', '#d9622b', '#3a9a48', '#8e5bb5', '#c2a100', '#1d9c9c', '#c2416f', '#6b7280']

export function drawPanels(panels: readonly Answered[], span: Span): string {
  const boxes = panels.map(({ gridPos: { x, y, w, h } }) => ({
    x: x * COLUMN_PX,
    y: y * ROW_PX,
    w: w * COLUMN_PX - GAP_PX,
    h: h * ROW_PX - GAP_PX,
  }))
  const width = Math.max(...boxes.map(({ x, w }) => x + w))
  const height = Math.max(...boxes.map(({ y, h }) => y + h))
  const drawn = panels.map((panel, index) => drawPanel(panel, boxes[index] as Box, span))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">`,
    '<title>The panels of the dashboard of Counterstep</title>',
    `<rect width="${width}" height="${height}" fill="#f4f5f7"/>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n')
}

function drawPanel(panel: Answered, box: Box, span: Span): string {
  const { type, title } = panel
  const { x, y, w, h } = box
  if (type === 'row')
    return write(x + PADDING_PX, y + ROW_PX / 2 + GAP_PX, title, 'font-size="14" font-weight="bold"')
  const frame = `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="3" fill="#fff" stroke="#d8dbe0"/>`
  const head = write(x + PADDING_PX, y + TITLE_PX - PADDING_PX, title, 'font-weight="bold"')
  const lines = readLines(panel)
  const body = type === 'stat' ? drawStat(panel, lines, box) : drawGraph(panel, lines, box, span)
  return [frame, head, ...body].join('\n')
}

function readLines({ answers }: Answered): readonly Line[] {
  return answers.flatMap(({ legend, samples }) =>
    samples.map(({ metric, values }) => ({
      name: legend.replace(/\{\{(\w+)\}\}/g, (_whole, label: string) => metric[label] ?? ''),
      points: values
        .filter(([, value]) => Number.isFinite(Number(value)))
        .map(([at, value]) => [at, Number(value)] as const),
    })),
  )
}

function drawStat({ unit }: Answered, lines: readonly Line[], { x, y, w, h }: Box): readonly string[] {
  const last = lines[0]?.points.at(-1)?.[1] ?? Number.NaN
  const middle = `font-size="30" text-anchor="middle" fill="#3a9a48"`
  return [write(x + w / 2, y + h / 2 + TITLE_PX / 2 + PADDING_PX / 2, toText(last, unit), middle)]
}

function drawGraph({ unit }: Answered, lines: readonly Line[], box: Box, span: Span): readonly string[] {
  const legends = Math.min(lines.length, LEGEND_LINES_MAX)
  const area = {
    x: box.x + AXIS_PX,
    y: box.y + TITLE_PX,
    w: box.w - AXIS_PX - PADDING_PX,
    h: box.h - TITLE_PX - PADDING_PX - legends * LEGEND_LINE_PX,
  }
  const top = Math.max(...lines.flatMap(({ points }) => points.map(([, value]) => value)), 0) || 1
  const toX = (at: number) => round(area.x + ((at - span.from) / (span.to - span.from)) * area.w)
  const toY = (value: number) => round(area.y + area.h - (value / top) * area.h)
  const grid = [0, top / 2, top].flatMap((value) => [
    `<path d="M${area.x} ${toY(value)}H${area.x + area.w}" stroke="#e5e7eb"/>`,
    write(area.x - GAP_PX, toY(value) + GAP_PX, toText(value, unit), 'text-anchor="end" fill="#6b7280"'),
  ])
  const curves = lines.map(({ points }, index) => {
    const path = points.map(([at, value]) => `${toX(at)} ${toY(value)}`).join('L')
    return `<path d="M${path}" fill="none" stroke="${COLOURS[index % COLOURS.length]}" stroke-width="1.5"/>`
  })
  return [...grid, ...curves, ...drawLegend(lines, box, legends)]
}

/** Writes the names of the lines below each other, and on the last line how many more there are. */
function drawLegend(lines: readonly Line[], { x, y, h }: Box, legends: number): readonly string[] {
  const more = lines.length - legends
  return lines.slice(0, legends).map(({ name }, index) => {
    const text = index === legends - 1 && more > 0 ? `${name}, and ${more} more` : name
    const at = y + h - PADDING_PX / 2 - (legends - 1 - index) * LEGEND_LINE_PX
    return write(x + PADDING_PX, at, text, `fill="${COLOURS[index % COLOURS.length]}"`)
  })
}

function toText(value: number, unit?: string): string {
  if (value === 0) return '0'
  if (unit === 'bytes') return `${(value / 1024 ** 2).toFixed(0)} MiB`
  if (unit === 'percentunit') return `${(value * 100).toFixed(0)} %`
  if (unit === 's') return value < 1 ? `${(value * 1000).toFixed(0)} ms` : `${value.toPrecision(2)} s`
  const number = Number.isInteger(value) ? String(value) : value.toPrecision(2)
  return unit === 'ops' ? `${number}/s` : number
}

function write(x: number, y: number, text: string, style = ''): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${round(x)}" y="${round(y)}" ${style}>${escaped}</text>`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
