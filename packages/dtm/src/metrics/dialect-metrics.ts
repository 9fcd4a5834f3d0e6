import { Histogram } from './histogram.ts'

/**
 * Counts the answers of this HTTP API under DTM's metric names. Labels come from fixed lists only, so the number of
 * series is bounded.
 */
export class DialectMetrics {
  readonly #requests = new Map<string, number>()
  readonly #durations = new Map<string, Histogram>()
  readonly #transactions = new Map<string, number>()
  readonly #handled = new Map<string, Histogram>()

  countAnswer(api: string, isOk: boolean, seconds: number, type: 'http' | 'grpc' = 'http'): void {
    count(this.#requests, `api="${api}",status="${toWord(isOk)}",type="${type}"`)
    getHistogram(this.#durations, `api="${api}",type="${type}"`).observe(seconds)
  }

  countTransaction(model: string, isOk: boolean, seconds: number): void {
    count(this.#transactions, `model="${model}",status="${toWord(isOk)}"`)
    getHistogram(this.#handled, `model="${model}"`).observe(seconds)
  }

  text(version: string): string {
    return [
      ...writeHead('dtm_server_info', 'The information of this dtm server.', 'gauge'),
      `dtm_server_info{version="${version}"} 1`,
      ...writeCounters('dtm_server_process_total', 'All request received by dtm', this.#requests),
      ...writeHistograms(
        'dtm_server_response_duration',
        'The request durations of a dtm server api',
        this.#durations,
      ),
      ...writeHistograms(
        'dtm_transaction_handled_duration',
        'Histogram of handling latency of the transaction that handled by the server.',
        this.#handled,
      ),
      ...writeCounters(
        'dtm_transaction_process_total',
        'All transactions processed by dtm',
        this.#transactions,
      ),
      '',
    ].join('\n')
  }
}

function toWord(isOk: boolean): string {
  return isOk ? 'ok' : 'fail'
}

function count(counters: Map<string, number>, labels: string): void {
  counters.set(labels, (counters.get(labels) ?? 0) + 1)
}

function getHistogram(histograms: Map<string, Histogram>, labels: string): Histogram {
  const known = histograms.get(labels) ?? new Histogram()
  histograms.set(labels, known)
  return known
}

function writeCounters(name: string, help: string, counters: ReadonlyMap<string, number>): string[] {
  if (counters.size === 0) return []
  const lines = [...counters].sort().map(([labels, value]) => `${name}{${labels}} ${value}`)
  return [...writeHead(name, help, 'counter'), ...lines]
}

function writeHistograms(name: string, help: string, histograms: ReadonlyMap<string, Histogram>): string[] {
  if (histograms.size === 0) return []
  const lines = [...histograms].flatMap(([labels, histogram]) => histogram.writeLines(name, labels))
  return [...writeHead(name, help, 'histogram'), ...lines]
}

function writeHead(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`]
}
