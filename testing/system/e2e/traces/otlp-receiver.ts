import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { until } from '@counterstep/test-servers/until'

const START_MS_MAX = 20_000

/** The receiver's Python reads it from the bytes. Ids are in hexadecimal, and a root's parent is empty. */
export interface ReceivedSpan {
  readonly service: string
  readonly resource: Readonly<Record<string, string>>
  readonly name: string
  readonly kind: 'INTERNAL' | 'SERVER' | 'CLIENT'
  readonly traceId: string
  readonly spanId: string
  readonly parentId: string
  readonly startNs: string
  readonly endNs: string
  readonly status: 'UNSET' | 'OK' | 'ERROR'
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly events: readonly Readonly<Record<string, string>>[]
  readonly links: readonly string[]
}

export interface ReceivedMetric {
  readonly name: string
  readonly unit: string
  readonly kind: 'sum' | 'gauge' | 'histogram'
  readonly points: readonly { readonly attributes: object; readonly value: unknown }[]
}

/** Receives telemetry over HTTP, and reads it by the protobuf types that OpenTelemetry publishes for Python. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = []
  readonly metrics: ReceivedMetric[] = []
  readonly #child: ChildProcess
  #port = 0

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(python: string): Promise<OtlpReceiver> {
    const program = join(import.meta.dirname, 'receiver.py')
    const child = spawn(python, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const receiver = new OtlpReceiver(child)
    createInterface({ input: child.stdout }).on('line', (line) => receiver.#read(line))
    await until('the receiver listens', START_MS_MAX, () => receiver.#port > 0)
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Returns the spans of one trace that have come so far, in the order of their starts. */
  spansOf(traceId: string): readonly ReceivedSpan[] {
    return this.spans
      .filter((span) => span.traceId === traceId)
      .toSorted((one, other) => Number(BigInt(one.startNs) - BigInt(other.startNs)))
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'close')
    this.#child.kill('SIGINT')
    await ended
  }

  #read(line: string): void {
    const { port, span, metric } = JSON.parse(line) as {
      readonly port?: number
      readonly span?: ReceivedSpan
      readonly metric?: ReceivedMetric
    }
    if (port !== undefined) this.#port = port
    if (span !== undefined) this.spans.push(span)
    if (metric !== undefined) this.metrics.push(metric)
  }
}

export function nameSpan({ service, name }: ReceivedSpan): string {
  return `${service}: ${name}`
}
