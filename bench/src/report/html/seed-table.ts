import type { Place, SeedLine, SeedPage } from '../../seeds/seed-pages.ts'
import { ratioBars } from '../charts/ratio-bars.ts'
import type { Report } from '../report.ts'
import { toRatioBars } from '../to-ratio-bars.ts'
import { formatFigure } from './figures.ts'
import { html, type Markup } from './markup.ts'
import { table } from './row-table.ts'

/** A page of the seeds with our figures under theirs. */
export function seedTable(seedPage: SeedPage, report: Report | undefined): Markup {
  const { number, title, machine, scenario, heads, lines } = seedPage
  const ours =
    report === undefined
      ? `There is no run of ${scenario} on this page.`
      : `Ours: ${report.machine.cores} cores for everything, ${report.store?.software.version ?? 'no store'}, durability class ${report.store?.durabilityClass ?? '–'}.`
  return html`<article>
<h3>The seeds’ page ${number}: ${title}</h3>
<p class="lead">Theirs: ${machine}. ${ours} Figures per second differ from machine to machine: compare ratios.</p>
${table(
  ['', ...heads],
  lines.flatMap((line) => toLines(line, report)),
)}
${bars(report)}
</article>`
}

function bars(report: Report | undefined): Markup | '' {
  const compared = report === undefined ? [] : toRatioBars(report).filter(({ seeds }) => seeds.length > 0)
  const chart = ratioBars(compared)
  return chart === undefined ? '' : html`<div class="charts">${chart}</div>`
}

function toLines(
  { name, theirs, ours }: SeedLine,
  report: Report | undefined,
): readonly (readonly string[])[] {
  const their = [`${name}, theirs`, ...theirs.map(formatFigure)]
  const own = [
    `${name}, ours`,
    ...ours.map((place) => formatFigure(place && report && valueAt(place, report))),
  ]
  return [...(theirs.some((value) => value !== undefined) ? [their] : []), ...(ours.length > 0 ? [own] : [])]
}

function valueAt(place: Place, { rows, ratios }: Report): number | undefined {
  if ('ratio' in place) return ratios[place.ratio]
  const row = rows.find(({ name }) => name === place.row)
  if ('figure' in place) return row?.figures[place.figure]?.median
  switch (place.of) {
    case 'rate':
      return row?.perSecond.median
    case 'p50':
      return row?.p50Ms?.median
    case 'p95':
      return row?.latencyCurve?.find(({ share }) => share === 0.95)?.ms
  }
}
