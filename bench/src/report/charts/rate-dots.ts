import type { Row } from '../../row.ts'
import { formatFigure, formatTick } from '../html/figures.ts'
import { html, type Markup } from '../html/markup.ts'
import { box, dot, line, picture, text, WIDTH } from '../svg/picture.ts'
import { linearScale, type Scale } from '../svg/scale.ts'
import { figure } from './figure.ts'

const ROW_HEIGHT = 40
const BAR_HEIGHT = 8
const RIGHT = 70
const AXIS_HEIGHT = 22

/** Each row's median, and a dot for each round. The title names the group. */
export function rateDots(rows: readonly Row[], group = ''): Markup | undefined {
  if (rows.length === 0) return undefined
  const scale = linearScale(Math.max(...rows.map(({ perSecond }) => perSecond.max)), {
    from: 0,
    to: WIDTH - RIGHT,
  })
  const height = rows.length * ROW_HEIGHT
  const grid = scale.ticks.map((tick) => {
    const x = scale.at(tick)
    return html`${[
      line('grid', { x, y: 0 }, { x, y: height }),
      text('tick', { x, y: height + 16 }, formatTick(tick), x === 0 ? 'start' : 'middle'),
    ]}`
  })
  return figure(
    group === '' ? 'Per second' : `Per second, ${group}`,
    [],
    picture('Per second, row by row', height + AXIS_HEIGHT, [
      ...grid,
      ...rows.map((row, index) => oneRow(row, index * ROW_HEIGHT, scale)),
    ]),
    'The bar is the median, each dot is a round.',
  )
}

function oneRow({ name, perSecond }: Row, y: number, scale: Scale): Markup {
  const middle = y + 25
  const bar = { x: 0, y: middle - BAR_HEIGHT / 2, width: scale.at(perSecond.median), height: BAR_HEIGHT }
  return html`<g>${[
    text('label', { x: 0, y: y + 14 }, name),
    box('bar c1 pale', bar, `${name}: ${formatFigure(perSecond.median)} per second`),
    ...perSecond.rounds.map((rate, round) =>
      dot('dot c1', { x: scale.at(rate), y: middle }, `round ${round + 1}: ${formatFigure(rate)}`),
    ),
    text('value', { x: scale.at(perSecond.max) + 8, y: middle + 5 }, formatFigure(perSecond.median)),
  ]}</g>`
}
