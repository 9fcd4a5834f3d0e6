import { formatTick } from '../html/figures.ts'
import { html, type Markup } from '../html/markup.ts'
import { line, text, WIDTH } from '../svg/picture.ts'
import type { Range, Scale } from '../svg/scale.ts'

/** The area in which points lie in a picture with two axes. */
export const PLOT_X: Range = { from: 44, to: WIDTH - 20 }
export const PLOT_Y: Range = { from: 230, to: 14 }
export const PLOT_HEIGHT = 272

export interface Tick {
  readonly at: number
  readonly label: string
}

export function toTicks(scale: Scale): readonly Tick[] {
  return scale.ticks.map((tick) => ({ at: scale.at(tick), label: formatTick(tick) }))
}

export function axes(x: readonly Tick[], y: readonly Tick[], xTitle: string): Markup {
  return html`<g>${[
    ...y.map(({ at, label }) =>
      gridLine(
        { from: PLOT_X.from, to: PLOT_X.to },
        at,
        text('tick', { x: PLOT_X.from - 6, y: at + 4 }, label, 'end'),
      ),
    ),
    ...x.map(({ at, label }) => text('tick', { x: at, y: PLOT_Y.from + 18 }, label, 'middle')),
    text('note', { x: (PLOT_X.from + PLOT_X.to) / 2, y: PLOT_Y.from + 37 }, xTitle, 'middle'),
  ]}</g>`
}

function gridLine({ from, to }: Range, y: number, label: Markup): Markup {
  return html`${[line('grid', { x: from, y }, { x: to, y }), label]}`
}
