/** The content of a server's /metrics at one moment: each line's value under its name with its labels. */
export type Metrics = ReadonlyMap<string, number>

export async function readMetrics(url: string): Promise<Metrics> {
  const response = await fetch(`${url}/metrics`)
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`)
  return parseMetrics(await response.text())
}

/** The text format of Prometheus, without instants. */
export function parseMetrics(text: string): Metrics {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))]
    }),
  )
}

/** The sum over all lines of that name that have all these labels. */
export function sumMetric(
  metrics: Metrics,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  let sum = 0
  for (const [key, value] of metrics) {
    const [line = '', given = ''] = key.split('{')
    if (line === name && wanted.every((label) => given.includes(label))) sum += value
  }
  return sum
}

/** How often and how long, between two moments. */
export function timesBetween(
  before: Metrics | undefined,
  after: Metrics,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): { readonly count: number; readonly seconds: number } {
  const grown = (line: string) =>
    sumMetric(after, line, labels) - (before === undefined ? 0 : sumMetric(before, line, labels))
  return { count: grown(`${name}_count`), seconds: grown(`${name}_sum`) }
}
