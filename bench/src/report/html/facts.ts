import type { Report } from '../report.ts'
import { describeNoStore } from '../store-facts.ts'
import { html, type Markup } from './markup.ts'

/** Longer ones get a line of their own. */
const LINE_LENGTH_MAX = 36

export type Fact = readonly [name: string, value: string | number]

/** Lists where, on what and with which settings the figures were measured: without that they are worth nothing. */
export function renderFacts(report: Report): Markup {
  const { at, settings, machine } = report
  const { commit, node, cores, cpu, memoryGib, flushMs, loadPerCore } = machine
  return factList([
    ['measured', `${at.slice(0, 16).replace('T', ' ')} UTC`],
    ['commit', commit],
    ['Node', node],
    ['machine', `${cores} cores, ${cpu}, ${memoryGib} GiB`],
    ['a flush', `${flushMs} ms, median`],
    ['load before', `${loadPerCore} a core`],
    ...storeFacts(report),
    ['run with', describeSettings(settings)],
  ])
}

export function factList(facts: readonly Fact[]): Markup {
  return html`<dl class="facts">${facts.map(
    ([name, value]) =>
      html`<div class="${String(value).length > LINE_LENGTH_MAX ? 'long' : 'short'}"><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`
}

function storeFacts({ store, hasStoreForEachRow }: Report): readonly Fact[] {
  if (store === null) return [['store', describeNoStore(hasStoreForEachRow)]]
  const { name, durabilityClass, failover, software } = store
  return [
    ['store', `${name}, on ${software.version}`],
    ['durability', `class ${durabilityClass}, failover ${failover}`],
    ['its settings', describeSettings(software.settings)],
  ]
}

function describeSettings(settings: object): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')
}
