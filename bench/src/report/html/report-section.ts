import { aimWords, findAim } from '../../aims/find-aim.ts'
import type { Row } from '../../row.ts'
import { listCautions, listPlainNotes } from '../cautions.ts'
import { CURVES_MAX, latencyCurves } from '../charts/latency-curves.ts'
import { rateDots } from '../charts/rate-dots.ts'
import { ratioBars } from '../charts/ratio-bars.ts'
import { groupSeries, type SeriesGroup } from '../charts/series.ts'
import { latencyLines, rateLines } from '../charts/series-lines.ts'
import type { Report } from '../report.ts'
import { toRatioBars } from '../to-ratio-bars.ts'
import { renderFacts } from './facts.ts'
import { formatFigure } from './figures.ts'
import { html, Markup } from './markup.ts'
import { rowTable, table } from './row-table.ts'

/** Everything about one run: facts, cautions, pictures, figures, notes, and the counts that were held against each other. */
export function reportSection(report: Report): Markup {
  const notes = listPlainNotes(report)
  return html`
${listCautions(report).map((caution) => html`<p class="caution"><strong>CAUTION</strong> ${caution}</p>`)}
<div class="charts">${renderCharts(report)}</div>
${rowTable(report.rows)}
${ratioTable(report)}
${notes.length === 0 ? '' : html`<ul class="notes">${notes.map((note) => html`<li>${note}</li>`)}</ul>`}
${renderFacts(report)}
<details><summary>Counts that were held against each other</summary>${countTable(report)}</details>`
}

function renderCharts(report: Report): readonly Markup[] {
  const groups = groupSeries(report.rows)
  const inSeries = new Set(
    groups.flatMap(({ series }) => series.flatMap(({ points }) => points)).map(({ row }) => row),
  )
  const single = report.rows.filter((row) => !inSeries.has(row))
  const charts = [
    ratioBars(toRatioBars(report)),
    ...groupRows(single).flatMap(([group, rows]) => [
      rateDots(rows, group),
      ...(group === '' ? [rows] : splitForCurves(rows)).map((part) => latencyCurves(part, group)),
    ]),
    ...groups.flatMap((group: SeriesGroup) => [rateLines(group), latencyLines(group)]),
  ]
  return charts.filter((chart) => chart instanceof Markup)
}

/** Rows without a group are one whose name is empty. */
function groupRows(rows: readonly Row[]): readonly (readonly [group: string, rows: readonly Row[]])[] {
  const groups = new Map<string, Row[]>([['', []]])
  for (const row of rows) {
    const { group = '' } = row
    groups.set(group, [...(groups.get(group) ?? []), row])
  }
  return [...groups]
}

/** Splits the many rows of a group into parts of nearly the same length, with no more curves than can be told apart. */
function splitForCurves(rows: readonly Row[]): readonly (readonly Row[])[] {
  const parts = Math.ceil(rows.length / CURVES_MAX)
  const length = Math.ceil(rows.length / parts)
  return Array.from({ length: parts }, (_, part) => rows.slice(part * length, (part + 1) * length))
}

function ratioTable(report: Report): Markup | '' {
  const ratios = Object.entries(report.ratioSpreads)
  if (ratios.length === 0) return ''
  const hasWrk = ratios.some(([, { byWrk }]) => byWrk !== undefined)
  return table(
    ['ratio', 'median', 'range', 'by CPU time alone', ...(hasWrk ? ['by wrk'] : []), 'aim'],
    ratios.map(([name, { spread, byCpu, byWrk }]) => {
      const aim = findAim(report, name)
      return [
        name,
        formatFigure(spread.median),
        `${formatFigure(spread.min)}–${formatFigure(spread.max)}`,
        formatFigure(byCpu?.median),
        ...(hasWrk ? [formatFigure(byWrk?.median)] : []),
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
