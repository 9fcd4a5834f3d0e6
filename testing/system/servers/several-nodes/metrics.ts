/** The sum of all samples of that name whose labels contain each of the given ones. */
export async function readMetric(
  url: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

/** How often this node's store calls of that kind had that outcome. */
export function storeCalls(url: string, verb: string, outcome: string): Promise<number> {
  return readMetric(url, 'counterstep_store_call_duration_seconds_count', { verb, outcome })
}
