import type { Report } from '../report.ts'
import { describeNoStore } from '../store-facts.ts'
import { html } from './markup.ts'
import { page } from './page.ts'
import { reportSection } from './report-section.ts'

/** One run as a page of its own. */
export function reportPage(report: Report): string {
  return page(`Counterstep bench: ${toTitle(report)}`, toLead(report), [
    html`<section>${reportSection(report)}</section>`,
  ])
}

export function toTitle({ scenario, store }: Report): string {
  return store === null ? scenario : `${scenario}, ${store.name}`
}

export function toLead({ settings, store, hasStoreForEachRow }: Report): string {
  const { connections, rounds, warmUpSeconds, seconds } = settings
  const durability =
    store === null ? describeNoStore(hasStoreForEachRow) : `durability class ${store.durabilityClass}`
  return `${counted(connections, 'connection')}, ${counted(rounds, 'round')} of ${warmUpSeconds} + ${seconds} s a row, ${durability}`
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
