import { aimOf, aimWords } from '../../aims/aim-of.ts'
import { cautionsOf, plainNotesOf } from '../cautions.ts'
import { latencyCurves } from '../charts/latency-curves.ts'
import { rateDots } from '../charts/rate-dots.ts'
import { ratioBars } from '../charts/ratio-bars.ts'
import { type SeriesGroup, seriesOf } from '../charts/series.ts'
import { latencyLines, rateLines } from '../charts/series-lines.ts'
import { barsOf } from '../ratio-bars-of.ts'
import type { Report } from '../report.ts'
import { factsOf } from './facts.ts'
import { figureOf } from './figures.ts'
import { html, Markup } from './markup.ts'
import { rowTable, table } from './row-table.ts'

/** Everything about one run: facts, cautions, pictures, figures, notes, and the counts that were held against each other. */
export function reportSection(report: Report): Markup {
  const notes = plainNotesOf(report)
  return html`
${cautionsOf(report).map((caution) => html`<p class="caution"><strong>CAUTION</strong> ${caution}</p>`)}
<div class="charts">${chartsOf(report)}</div>
${rowTable(report.rows)}
${ratioTable(report)}
${notes.length === 0 ? '' : html`<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul>`}
${factsOf(report)}
<details><summary>Counts that were held against each other</summary>${countTable(report)}</details>`
}

function chartsOf(report: Report): readonly Markup[] {
  const groups = seriesOf(report.rows)
  const inSeries = new Set(
    groups.flatMap(({ series }) => series.flatMap(({ points }) => points)).map(({ row }) => row),
  )
  const single = report.rows.filter((row) => !inSeries.has(row))
  const charts = [
    ratioBars(barsOf(report)),
    rateDots(single),
    latencyCurves(single),
    ...groups.flatMap((group: SeriesGroup) => [rateLines(group), latencyLines(group)]),
  ]
  return charts.filter((chart) => chart instanceof Markup)
}

function ratioTable(report: Report): Markup | '' {
  const ratios = Object.entries(report.ratioSpreads)
  if (ratios.length === 0) return ''
  const hasWrk = ratios.some(([, { byWrk }]) => byWrk !== undefined)
  return table(
    ['ratio', 'median', 'range', 'by CPU time alone', ...(hasWrk ? ['by wrk'] : []), 'aim'],
    ratios.map(([name, { spread, byCpu, byWrk }]) => {
      const aim = aimOf(report, name)
      return [
        name,
        figureOf(spread.median),
        `${figureOf(spread.min)}–${figureOf(spread.max)}`,
        figureOf(byCpu?.median),
        ...(hasWrk ? [figureOf(byWrk?.median)] : []),
        aim === undefined ? '' : aimWords(aim, spread.median),
      ]
    }),
  )
}

function countTable({ counters }: Report): Markup {
  return table(
    ['count', ''],
    Object.entries(counters).map(([name, count]) => [name, count.toLocaleString('en')]),
  )
}
