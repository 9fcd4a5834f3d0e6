import type { SeedRatio } from '../../seeds/seeds.ts'
import type { Spread } from '../../spread.ts'
import { formatFigure, formatTick } from '../html/figures.ts'
import { html, type Markup } from '../html/markup.ts'
import { box, line, picture, text, WIDTH } from '../svg/picture.ts'
import { linearScale, type Scale } from '../svg/scale.ts'
import { figure } from './figure.ts'

const LINE_HEIGHT = 18
const OUR_BAR = 14
const SEED_BAR = 8
const GAP = 18
const RIGHT = 60
const AXIS_HEIGHT = 22

export interface RatioBar {
  readonly name: string
  readonly spread: Spread
  readonly seeds: readonly SeedRatio[]
}

/** Ours with its range, and under it what the seeds have for the same ratio. */
export function ratioBars(bars: readonly RatioBar[]): Markup | undefined {
  if (bars.length === 0) return undefined
  const highest = bars.flatMap(({ spread, seeds }) => [spread.max, ...seeds.map(({ ratio }) => ratio)])
  const scale = linearScale(Math.max(...highest, 1), { from: 0, to: WIDTH - RIGHT })
  let y = 0
  const parts: Markup[] = []
  for (const bar of bars) {
    parts.push(oneBar(bar, y, scale))
    y += toHeight(bar)
  }
  const grid = scale.ticks.map((tick) => gridLine(tick, scale.at(tick), y))
  const one = line('reference', { x: scale.at(1), y: 0 }, { x: scale.at(1), y })
  return figure(
    'Ratios',
    bars.some(({ seeds }) => seeds.length > 0) ? ['Counterstep', 'aims and others’ figures'] : [],
    picture('Ratios', y + AXIS_HEIGHT, [...grid, one, ...parts]),
    'Median over the rounds; the thin line is the range. The dashed line is 1.',
  )
}

function toHeight({ seeds }: RatioBar): number {
  return LINE_HEIGHT + OUR_BAR + seeds.length * (LINE_HEIGHT + SEED_BAR) + GAP
}

function oneBar({ name, spread, seeds }: RatioBar, y: number, scale: Scale): Markup {
  const middle = y + LINE_HEIGHT + OUR_BAR / 2
  const range = `${formatFigure(spread.min)} to ${formatFigure(spread.max)}`
  const end = Math.max(scale.at(spread.median), scale.at(spread.max))
  const ours = { x: 0, y: y + LINE_HEIGHT, width: scale.at(spread.median), height: OUR_BAR }
  return html`<g>${[
    text('label', { x: 0, y: y + 13 }, name),
    box('bar c1', ours, `${name}: ${formatFigure(spread.median)}, ${range}`),
    line('whisker', { x: scale.at(spread.min), y: middle }, { x: scale.at(spread.max), y: middle }),
    text('value', { x: end + 6, y: middle + 5 }, formatFigure(spread.median)),
    ...seeds.map((seed, index) =>
      seedBar(seed, y + LINE_HEIGHT + OUR_BAR + 2 + index * (LINE_HEIGHT + SEED_BAR), scale),
    ),
  ]}</g>`
}

function seedBar({ ratio, source }: SeedRatio, y: number, scale: Scale): Markup {
  const words = `${source}: ${formatFigure(ratio)}`
  const bar = { x: 0, y: y + LINE_HEIGHT, width: scale.at(ratio), height: SEED_BAR }
  return html`${[text('note', { x: 0, y: y + 14 }, words), box('bar c2', bar, words)]}`
}

function gridLine(value: number, x: number, height: number): Markup {
  const anchor = x === 0 ? 'start' : 'middle'
  return html`${[
    line('grid', { x, y: 0 }, { x, y: height }),
    text('tick', { x, y: height + 16 }, formatTick(value), anchor),
  ]}`
}
