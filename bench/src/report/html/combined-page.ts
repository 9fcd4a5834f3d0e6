import { SEED_PAGES } from '../../seeds/seed-pages.ts'
import type { Report } from '../report.ts'
import { formatFigure } from './figures.ts'
import { html, type Markup } from './markup.ts'
import { page } from './page.ts'
import { toLead, toTitle } from './report-page.ts'
import { reportSection } from './report-section.ts'
import { seedTable } from './seed-table.ts'

export interface Failed {
  readonly name: string
  readonly message: string
}

/** All runs on one page: an index, the seeds' pages beside ours, and each run. */
export function combinedPage(reports: readonly Report[], failed: readonly Failed[], at: string): string {
  return page('Counterstep bench', leadOfAll(reports, at), [
    html`<section id="index"><h2>Runs</h2>${index(reports)}${failed.map(
      ({ name, message }) => html`<p class="caution"><strong>FAILED</strong> ${name}: ${message}</p>`,
    )}</section>`,
    html`<section id="seeds"><h2>Beside the seeds</h2>${SEED_PAGES.map((seedPage) =>
      seedTable(
        seedPage,
        reports.find(({ scenario }) => scenario === seedPage.scenario),
      ),
    )}</section>`,
    ...reports.map(
      (report, number) => html`<section id="${toAnchor(number)}">
<h2>${toTitle(report)}</h2><p class="lead">${toLead(report)}</p>
${reportSection(report)}
</section>`,
    ),
  ])
}

function leadOfAll(reports: readonly Report[], at: string): string {
  const [first] = reports
  const when = `${at.slice(0, 16).replace('T', ' ')} UTC`
  if (first === undefined) return `${when}; no run ended`
  const { commit, node, cores, cpu } = first.machine
  return `${when}, commit ${commit}, Node ${node}, ${cores} cores (${cpu}), everything on them`
}

function index(reports: readonly Report[]): Markup {
  const lines = reports.map((report, number) => {
    const ratios = Object.entries(report.ratios).map(
      ([name, ratio]) => html`<li>${name} <strong>${formatFigure(ratio)}</strong></li>`,
    )
    return html`<li><a href="#${toAnchor(number)}">${toTitle(report)}</a><ul>${ratios}</ul></li>`
  })
  return html`<ul class="index"><li><a href="#seeds">Beside the seeds</a></li>${lines}</ul>`
}

function toAnchor(number: number): string {
  return `run-${number + 1}`
}
