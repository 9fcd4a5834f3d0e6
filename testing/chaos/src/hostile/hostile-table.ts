import type { HostileReport, TriedCase } from './run-pass.ts'

const MEBIBYTE = 1024 * 1024

export function overshootMsMax({ cases }: HostileReport): number {
  return Math.max(...cases.flatMap(({ overshootMs }) => overshootMs))
}

/** One line for each behaviour, all roles together, and the figures of the whole. */
export function summarize(report: HostileReport): string {
  const names = new Set(report.cases.map(({ name }) => name))
  const lines = [...names].map((name) =>
    toLine(
      name,
      report.cases.filter((tried) => tried.name === name),
    ),
  )
  const growth = report.growthBytes === undefined ? '?' : (report.growthBytes / MEBIBYTE).toFixed(0)
  return [
    `${'behaviour'.padEnd(34)} ${'attempts'.padEnd(10)} ${'over by ms'.padStart(10)}  last answers`,
    ...lines,
    `${report.cases.length} transactions in ${Math.round(report.tookMs)} ms; worst attempt ${overshootMsMax(report)} ms over its deadline; ` +
      `the server grew by ${growth} MiB; ${report.strayed} redirects followed`,
    `this process was held up for ${Math.round(report.heldUpMsMax)} ms at worst`,
    ...report.breaches,
    `${report.breaches.length} breaches`,
  ].join('\n')
}

function toLine(name: string, cases: readonly TriedCase[]): string {
  const attempts = cases.map((tried) => tried.attempts).join(' ')
  const over = Math.max(...cases.flatMap(({ overshootMs }) => overshootMs))
  const answers = [...new Set(cases.map(({ lastAnswer }) => lastAnswer))].join(', ')
  return `${name.padEnd(34)} ${attempts.padEnd(10)} ${String(over).padStart(10)}  ${answers}`
}
