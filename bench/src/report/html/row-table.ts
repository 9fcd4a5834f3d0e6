import type { Row } from '../../row.ts'
import { formatFigure } from './figures.ts'
import { html, type Markup } from './markup.ts'

const HEADS = ['row', 'per second', 'range', 'p50 ms', 'p99 ms', 'CPU µs', 'of it asked', 'answers']

export function rowTable(rows: readonly Row[]): Markup {
  const figures = [...new Set(rows.flatMap((row) => Object.keys(row.figures)))]
  return table(
    [...HEADS, ...figures],
    rows.map((row) => toCells(row, figures)),
  )
}

/** The first of each line is its head. */
export function table(heads: readonly string[], lines: readonly (readonly string[])[], caption = ''): Markup {
  const body = lines.map(
    ([head = '', ...cells]) =>
      html`<tr><th scope="row">${head}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`,
  )
  return html`<div class="scroll"><table>
${caption === '' ? '' : html`<caption>${caption}</caption>`}
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${body}</tbody>
</table></div>`
}

function toCells(row: Row, figures: readonly string[]): readonly string[] {
  const { name, perSecond, p50Ms, p99Ms, cpuUs, answers } = row
  return [
    name,
    formatFigure(perSecond.median),
    `${formatFigure(perSecond.min)}–${formatFigure(perSecond.max)}`,
    formatFigure(p50Ms?.median),
    formatFigure(p99Ms?.median),
    formatFigure(cpuUs?.everything.median),
    formatFigure(cpuUs?.asked.median),
    answers.toLocaleString('en'),
    ...figures.map((figure) => formatFigure(row.figures[figure]?.median)),
  ]
}
