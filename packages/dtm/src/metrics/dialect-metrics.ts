/** Prometheus' default buckets, in seconds. */
const BUCKET_BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** DTM's own names over what this face has answered. Labels come from fixed lists only, so the series are bounded. */
export class DialectMetrics {
  readonly #requests = new Map<string, number>()
  readonly #durations = new Map<string, Histogram>()
  readonly #transactions = new Map<string, number>()
  readonly #handled = new Map<string, Histogram>()

  answered(api: string, isOk: boolean, seconds: number): void {
    count(this.#requests, `api="${api}",status="${word(isOk)}",type="http"`)
    histogramOf(this.#durations, `api="${api}",type="http"`).observe(seconds)
  }

  handled(model: string, isOk: boolean, seconds: number): void {
    count(this.#transactions, `model="${model}",status="${word(isOk)}"`)
    histogramOf(this.#handled, `model="${model}"`).observe(seconds)
  }

  text(version: string): string {
    return [
      ...head('dtm_server_info', 'The information of this dtm server.', 'gauge'),
      `dtm_server_info{version="${version}"} 1`,
      ...counterLines('dtm_server_process_total', 'All request received by dtm', this.#requests),
      ...histogramLines(
        'dtm_server_response_duration',
        'The request durations of a dtm server api',
        this.#durations,
      ),
      ...histogramLines(
        'dtm_transaction_handled_duration',
        'Histogram of handling latency of the transaction that handled by the server.',
        this.#handled,
      ),
      ...counterLines(
        'dtm_transaction_process_total',
        'All transactions processed by dtm',
        this.#transactions,
      ),
      '',
    ].join('\n')
  }
}

function word(isOk: boolean): string {
  return isOk ? 'ok' : 'fail'
}

function count(counters: Map<string, number>, labels: string): void {
  counters.set(labels, (counters.get(labels) ?? 0) + 1)
}

function histogramOf(histograms: Map<string, Histogram>, labels: string): Histogram {
  const known = histograms.get(labels) ?? new Histogram()
  histograms.set(labels, known)
  return known
}

function counterLines(name: string, help: string, counters: ReadonlyMap<string, number>): string[] {
  if (counters.size === 0) return []
  const lines = [...counters].sort().map(([labels, value]) => `${name}{${labels}} ${value}`)
  return [...head(name, help, 'counter'), ...lines]
}

function histogramLines(name: string, help: string, histograms: ReadonlyMap<string, Histogram>): string[] {
  if (histograms.size === 0) return []
  const lines = [...histograms].flatMap(([labels, histogram]) => histogram.lines(name, labels))
  return [...head(name, help, 'histogram'), ...lines]
}

function head(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}

class Histogram {
  readonly #buckets = BUCKET_BOUNDS_S.map(() => 0)
  #sum = 0
  #count = 0

  observe(seconds: number): void {
    this.#sum += seconds
    this.#count++
    for (const [position, bound] of BUCKET_BOUNDS_S.entries()) {
      if (seconds <= bound) this.#buckets[position] = (this.#buckets[position] ?? 0) + 1
    }
  }

  /** Its lines in the text format. `labels` without braces, not empty. */
  lines(name: string, labels: string): string[] {
    return [
      ...BUCKET_BOUNDS_S.map(
        (bound, position) => `${name}_bucket{${labels},le="${bound}"} ${this.#buckets[position]}`,
      ),
      `${name}_bucket{${labels},le="+Inf"} ${this.#count}`,
      `${name}_sum{${labels}} ${this.#sum}`,
      `${name}_count{${labels}} ${this.#count}`,
    ]
  }
}
