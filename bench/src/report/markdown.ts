import { listCautions, listPlainNotes } from './cautions.ts'
import type { Report } from './report.ts'

/** Writes the table of a report for a page in Markdown, with the command, the machine and the notes; undefined if it has none. */
export function formatMarkdown(report: Report): string | undefined {
  const { table, machine, at } = report
  const [heads, ...lines] = table ?? []
  if (heads === undefined) return undefined
  const { commit, node, cores, cpu, flushMs } = machine
  return [
    `\`${toCommand(report)}\` on ${at.slice(0, 10)}: commit ${commit}, Node ${node}, ${cores} cores (${cpu}), a flush of ${flushMs} ms.`,
    '',
    toLine(heads),
    toLine(heads.map(() => '---')),
    ...lines.map(toLine),
    '',
    ...listCautions(report).map((caution) => `- CAUTION: ${caution}`),
    ...listPlainNotes(report).map((note) => `- ${note}`),
  ].join('\n')
}

function toCommand({ scenario, settings }: Report): string {
  const { seconds, warmUpSeconds, rounds, connections, only } = settings
  const chosen = only === undefined ? '' : ` --only ${only}`
  return `npm run bench -- ${scenario} --seconds ${seconds} --warm-up ${warmUpSeconds} --rounds ${rounds} --connections ${connections}${chosen}`
}

function toLine(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
