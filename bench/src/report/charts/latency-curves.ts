import type { CurvePoint } from '../../load/load-job.ts'
import type { Row } from '../../row.ts'
import { formatFigure } from '../html/figures.ts'
import { html, type Markup } from '../html/markup.ts'
import { dot, picture, polyline } from '../svg/picture.ts'
import { logScale } from '../svg/scale.ts'
import { axes, PLOT_HEIGHT, PLOT_X, PLOT_Y, toTicks } from './axes.ts'
import { colour, figure } from './figure.ts'

/** More curves than colours cannot be told apart. */
export const CURVES_MAX = 8
/** The slowest of all answers gets a place of its own, to the right of 99.9 %. */
const NINES_MAX = 3.4
const SHARE_TICKS = [0, 0.5, 0.9, 0.99, 0.999]

/** How long the fastest, the middle and the slowest answers took; each further nine has as much room as the one before. */
export function latencyCurves(rows: readonly Row[], group = ''): Markup | undefined {
  const curves = rows.flatMap(({ name, latencyCurve = [] }) => {
    const points = latencyCurve.filter(({ ms }) => ms > 0)
    return points.length < 2 ? [] : [{ name, points }]
  })
  const times = curves.flatMap(({ points }) => points.map(({ ms }) => ms))
  if (curves.length === 0 || curves.length > CURVES_MAX) return undefined
  const along = (share: number) => PLOT_X.from + (PLOT_X.to - PLOT_X.from) * (countNines(share) / NINES_MAX)
  const y = logScale(Math.min(...times), Math.max(...times), PLOT_Y)
  const shares = SHARE_TICKS.map((share) => ({ at: along(share), label: `${share * 100}` }))
  const lines = curves.map(({ name, points }, index) => {
    const placed = points.map(({ share, ms }) => ({ x: along(share), y: y.at(ms) }))
    return html`<g>${[
      polyline(`curve ${colour(index)}`, placed),
      ...points.map((point, at) =>
        dot(`dot ${colour(index)}`, placed[at] ?? { x: 0, y: 0 }, toTitle(name, point), 2.5),
      ),
    ]}</g>`
  })
  const parts = [axes([...shares, { at: along(1), label: 'max' }], toTicks(y), '% of the answers'), ...lines]
  return figure(
    group === '' ? 'Latency, ms' : `Latency, ms, ${group}`,
    curves.map(({ name }) => name),
    picture('Latency by percentile, in milliseconds', PLOT_HEIGHT, parts),
    'So many of all answers came within this time. Both axes are logarithmic: each further nine has as much room. Median over the rounds.',
  )
}

function countNines(share: number): number {
  return share === 1 ? NINES_MAX : -Math.log10(1 - share)
}

function toTitle(name: string, { share, ms }: CurvePoint): string {
  return `${name}: ${formatFigure(share * 100)} % within ${formatFigure(ms)} ms`
}
