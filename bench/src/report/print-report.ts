import { aimWords, findAim } from '../aims/find-aim.ts'
import type { Row } from '../row.ts'
import type { Spread } from '../spread.ts'
import { listCautions, listPlainNotes } from './cautions.ts'
import type { Report } from './report.ts'
import { describeNoStore } from './store-facts.ts'
import { alignedTable } from './table.ts'

export function formatReport(report: Report): string {
  const plain = listPlainNotes(report)
  const notes = plain.length === 0 ? [] : ['', ...plain]
  return [...headLines(report), '', ...tableLines(report), '', ...ratioLines(report), ...notes].join('\n')
}

function headLines(report: Report): string[] {
  const { scenario, settings, machine } = report
  const { seconds, warmUpSeconds, connections, branches, rounds } = settings
  const { commit, node, cores, cpu, flushMs } = machine
  return [
    `${scenario}: ${connections} connections, ${branches} branches, ${rounds} rounds of ${warmUpSeconds} + ${seconds} s`,
    `commit ${commit}, Node ${node}, ${cores} cores (${cpu}), flush ${flushMs} ms`,
    ...storeLines(report),
    ...listCautions(report).map((caution) => `CAUTION: ${caution}`),
  ]
}

function storeLines({ store, hasStoreForEachRow }: Report): string[] {
  if (store === null) return [describeNoStore(hasStoreForEachRow)]
  const { version, settings } = store.software
  const set = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  return [
    `store ${store.name}, durability class ${store.durabilityClass}, failover ${store.failover}`,
    `on ${version}: ${set.join(', ')}`,
  ]
}

const COLUMNS = ['row', 'per second', 'range', 'p50 ms', 'p99 ms', 'CPU µs', 'of it asked', 'answers']

function tableLines({ rows }: Report): string[] {
  const figures = [...new Set(rows.flatMap((row) => Object.keys(row.figures)))]
  return alignedTable([[...COLUMNS, ...figures], ...rows.map((row) => toCells(row, figures))])
}

function toCells(row: Row, figures: readonly string[]): readonly string[] {
  const { name, perSecond, p50Ms, p99Ms, cpuUs, answers } = row
  return [
    name,
    perSecond.median.toFixed(0),
    toRange(perSecond, 0),
    toCell(p50Ms, 2),
    toCell(p99Ms, 2),
    toCell(cpuUs?.everything, 0),
    toCell(cpuUs?.asked, 0),
    String(answers),
    ...figures.map((figure) => toCell(row.figures[figure], 3)),
  ]
}

function toCell(spread: Spread | null | undefined, digits: number): string {
  return spread?.median.toFixed(digits) ?? '–'
}

function ratioLines(report: Report): string[] {
  return Object.entries(report.ratioSpreads).flatMap(([name, { spread, byCpu, byWrk }]) => {
    const indent = ' '.repeat(name.length + 3)
    const aim = findAim(report, name)
    return [
      `${name} = ${measured(spread)}`,
      ...(byCpu === undefined ? [] : [`${indent}${measured(byCpu)} by CPU time alone`]),
      ...(byWrk === undefined ? [] : [`${indent}${measured(byWrk)} by wrk`]),
      ...(aim === undefined ? [] : [`${indent}${aimWords(aim, spread.median)}`]),
    ]
  })
}

function measured(spread: Spread): string {
  return `${spread.median.toFixed(3)} (${toRange(spread, 3)})`
}

function toRange({ min, max }: Spread, digits: number): string {
  return `${min.toFixed(digits)}–${max.toFixed(digits)}`
}
