import type { Row } from '../rounds.ts'
import type { Spread } from '../spread.ts'
import type { Report } from './report.ts'

export function printedReport(report: Report): string {
  return [...headLines(report), '', ...tableLines(report), '', ...ratioLines(report)].join('\n')
}

function headLines({ scenario, store, settings, machine }: Report): string[] {
  const { seconds, warmUpSeconds, connections, branches, rounds, cpuProf } = settings
  const { commit, node, cores, cpu, flushMs, isMemoryDisk, loadPerCore } = machine
  return [
    `${scenario}: ${connections} connections, ${branches} branches, ${rounds} rounds of ${warmUpSeconds} + ${seconds} s`,
    `commit ${commit}, Node ${node}, ${cores} cores (${cpu}), flush ${flushMs} ms`,
    store === null
      ? 'nothing is stored'
      : `store ${store.name}, durability class ${store.durabilityClass}, failover ${store.failover}`,
    ...(isMemoryDisk ? ['CAUTION: the data lies in memory; a flush costs nothing here'] : []),
    ...(loadPerCore > 0.5
      ? [`CAUTION: the machine was busy before the run (load ${loadPerCore} a core)`]
      : []),
    ...(cpuProf === undefined ? [] : ['CAUTION: the server was profiled, which slows it down']),
  ]
}

const COLUMNS = [
  'row',
  'per second',
  'range',
  'p50 ms',
  'p99 ms',
  'CPU µs',
  'of it asked',
  'answers',
] as const

function tableLines({ rows }: Report): string[] {
  const cells = [COLUMNS, ...rows.map(cellsOf)]
  const widths = COLUMNS.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  return cells.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  )
}

function cellsOf({ name, perSecond, p50Ms, p99Ms, cpuUs, answers }: Row): readonly string[] {
  return [
    name,
    perSecond.median.toFixed(0),
    rangeOf(perSecond, 0),
    p50Ms.median.toFixed(2),
    p99Ms.median.toFixed(2),
    cpuUs?.everything.median.toFixed(0) ?? '–',
    cpuUs?.asked.median.toFixed(0) ?? '–',
    String(answers),
  ]
}

function ratioLines({ ratioSpreads }: Report): string[] {
  return Object.entries(ratioSpreads).flatMap(([name, { spread, byCpu }]) => [
    `${name} = ${measured(spread)}`,
    ...(byCpu === undefined ? [] : [`${' '.repeat(name.length)}   ${measured(byCpu)} by CPU time alone`]),
  ])
}

function measured(spread: Spread): string {
  return `${spread.median.toFixed(3)} (${rangeOf(spread, 3)})`
}

function rangeOf({ min, max }: Spread, digits: number): string {
  return `${min.toFixed(digits)}–${max.toFixed(digits)}`
}
