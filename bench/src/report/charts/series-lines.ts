import type { Spread } from '../../spread.ts'
import { formatFigure, formatTick } from '../html/figures.ts'
import { html, type Markup } from '../html/markup.ts'
import { dot, type Point, picture, polyline } from '../svg/picture.ts'
import { linearScale, logScale, type Scale } from '../svg/scale.ts'
import { axes, PLOT_HEIGHT, PLOT_X, PLOT_Y, toTicks } from './axes.ts'
import { colour, figure } from './figure.ts'
import type { Series, SeriesGroup, SeriesPoint } from './series.ts'

/** A linear axis hides the smaller rows beyond this span. */
const LINEAR_SPAN_MAX = 50
const TICKS_MAX = 9

/** Throughput along a number of callers, connections, branches …, with a dot for each round. */
export function rateLines({ unit, series }: SeriesGroup): Markup {
  const along = toDoublingScale(series)
  const rates = series.flatMap(({ points }) => points.flatMap(({ row }) => row.perSecond.rounds))
  const y = rateScale(rates.filter((rate) => rate > 0))
  const lines = series.map(({ name, points }, index) => {
    const place = ({ x, row }: SeriesPoint): Point => ({ x: along(x), y: y.at(row.perSecond.median) })
    const dots = points.flatMap(({ x, row }) =>
      row.perSecond.rounds
        .filter((rate) => rate > 0)
        .map((rate) =>
          dot(`dot ${colour(index)}`, { x: along(x), y: y.at(rate) }, toTitle(name, x, unit, rate)),
        ),
    )
    return html`<g>${[polyline(`curve ${colour(index)}`, points.map(place)), ...dots]}</g>`
  })
  return figure(
    `Per second, by ${unit}`,
    series.map(({ name }) => name),
    picture(`Per second, by ${unit}`, PLOT_HEIGHT, [axes(xTicks(series, along), toTicks(y), unit), ...lines]),
    'The line is the median, each dot is a round.',
  )
}

/** Median and slow answers along the same number. */
export function latencyLines({ unit, series }: SeriesGroup): Markup | undefined {
  const along = toDoublingScale(series)
  const times = series.flatMap(({ points }) =>
    points.flatMap(({ row }) => [row.p50Ms?.median, row.p99Ms?.median].filter(isTime)),
  )
  if (times.length === 0) return undefined
  const y = logScale(Math.min(...times), Math.max(...times), PLOT_Y)
  const lines = series.map(({ name, points }, index) => {
    const through = (of: (point: SeriesPoint) => Spread | null) =>
      points.flatMap((point) => {
        const ms = of(point)?.median
        return isTime(ms) ? [{ x: along(point.x), y: y.at(ms), title: toTitle(name, point.x, unit, ms) }] : []
      })
    const p50 = through(({ row }) => row.p50Ms)
    const p99 = through(({ row }) => row.p99Ms)
    return html`<g>${[
      polyline(`curve ${colour(index)}`, p50),
      polyline(`curve dashed ${colour(index)}`, p99),
      ...[...p50, ...p99].map((place) => dot(`dot ${colour(index)}`, place, place.title, 2.5)),
    ]}</g>`
  })
  return figure(
    `Latency in ms, by ${unit}`,
    series.map(({ name }) => name),
    picture(`Latency in ms, by ${unit}`, PLOT_HEIGHT, [
      axes(xTicks(series, along), toTicks(y), unit),
      ...lines,
    ]),
    'Whole line: p50. Dashed line: p99. Medians over the rounds.',
  )
}

function isTime(ms: number | undefined): ms is number {
  return ms !== undefined && ms > 0
}

function rateScale(rates: readonly number[]): Scale {
  const min = Math.min(...rates)
  const max = Math.max(...rates)
  return max / min > LINEAR_SPAN_MAX ? logScale(min, max, PLOT_Y) : linearScale(max, PLOT_Y)
}

/** The scale doubles from step to step; zero lies where half of the smallest number would. */
function toDoublingScale(series: readonly Series[]): (x: number) => number {
  const numbers = listNumbers(series)
  const positive = numbers.filter((x) => x > 0)
  const [least = 1] = positive
  const shifted = numbers.map((x) => (x === 0 ? least / 2 : x))
  const log = (x: number) => Math.log2(x === 0 ? least / 2 : x)
  const first = Math.log2(Math.min(...shifted))
  const span = Math.log2(Math.max(...shifted)) - first || 1
  const margin = 10
  const { from, to } = PLOT_X
  return (x) => from + margin + ((to - from - 2 * margin) * (log(x) - first)) / span
}

function xTicks(series: readonly Series[], along: (x: number) => number) {
  const numbers = listNumbers(series)
  const every = Math.ceil(numbers.length / TICKS_MAX)
  return numbers
    .filter((_, index) => index % every === 0)
    .map((x) => ({ at: along(x), label: formatTick(x) }))
}

function listNumbers(series: readonly Series[]): readonly number[] {
  return [...new Set(series.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b)
}

function toTitle(name: string, x: number, unit: string, value: number): string {
  return `${name}, ${x} ${unit}: ${formatFigure(value)}`
}
