import type { EngineTracer, Logger } from '@counterstep/engine'
import { CounterstepError } from '@counterstep/protocol'
import { createBoundedAgent } from './bounded-agent.ts'
import type { ReadableRegistry } from './prometheus-producer.ts'
import { readFailure } from './read-failure.ts'

export interface TelemetryOptions {
  /** The URL of a receiver of OTLP over HTTP. Absent: the variables of OpenTelemetry's specification name it. */
  readonly otlp: string | undefined
  /** Absent: these variables name it. */
  readonly serviceName: string | undefined
  readonly sendsTraces: boolean
  readonly sendsMetrics: boolean
  readonly registry: ReadableRegistry
  readonly version: string
  readonly logger: Logger
}

export interface Telemetry {
  readonly tracer: EngineTracer
  /** Sends what is left, for a bounded time. */
  stop(): Promise<void>
}

const STOP_MS_MAX = 500
const PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/sdk-node',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/resources',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/exporter-metrics-otlp-proto',
]

/**
 * Starts OpenTelemetry's SDK in this process. The variables of its specification
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/) choose the sampler, the headers and the
 * rest. Its packages are optional, and are loaded here alone. Throws SAGA_TELEMETRY_MISSING if they are not installed.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { serviceName, sendsTraces, sendsMetrics, registry, version, logger } = options
  const libraries = await load()
  const { api, sdk, metrics, resources, traceExporter, metricExporter } = libraries
  api.diag.setLogger(
    {
      error: (text) =>
        logger.warn({ event: 'telemetry-failed', detail: readFailure(text) }, 'telemetry-failed'),
      ...{ warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    },
    { logLevel: api.DiagLogLevel.ERROR, suppressOverrideMessage: true },
  )
  const startedAt = Date.now() - process.uptime() * 1_000
  const resource = resources.resourceFromAttributes({ 'service.version': version })
  const producer = libraries.createPrometheusProducer(registry, metrics, resource, startedAt)
  const reader = () =>
    new metrics.PeriodicExportingMetricReader({
      exporter: new metricExporter.OTLPMetricExporter(readPlace(options, 'v1/metrics')),
      metricProducers: [producer],
    })
  const node = new sdk.NodeSDK({
    resource,
    // The default ones send the arguments of the process, too, and a URL of a store there may have a password.
    resourceDetectors: [resources.serviceInstanceIdDetector, resources.hostDetector, resources.envDetector],
    ...(serviceName === undefined ? {} : { serviceName }),
    // Without an exporter here, the SDK reads that variable which has said that no traces are sent.
    ...(sendsTraces
      ? { traceExporter: new traceExporter.OTLPTraceExporter(readPlace(options, 'v1/traces')) }
      : {}),
    metricReaders: sendsMetrics ? [reader()] : [],
    logRecordProcessors: [],
  })
  node.start()
  return {
    tracer: libraries.createOpenTelemetryTracer(),
    async stop() {
      const late = new Promise((resolve) => setTimeout(resolve, STOP_MS_MAX).unref())
      // A receiver that is away loses the rest, and the stop goes on.
      await Promise.race([node.shutdown().catch(ignore), late])
    },
  }
}

/** The exporters read the variables where they are given no URL. */
function readPlace({ otlp }: TelemetryOptions, path: string) {
  const url = otlp === undefined ? {} : { url: `${otlp.replace(/\/$/, '')}/${path}` }
  return { ...url, httpAgentOptions: createBoundedAgent }
}

async function load() {
  try {
    const [api, sdk, metrics, resources, traceExporter, metricExporter, tracer, producer] = await Promise.all(
      [
        import('@opentelemetry/api'),
        import('@opentelemetry/sdk-node'),
        import('@opentelemetry/sdk-metrics'),
        import('@opentelemetry/resources'),
        import('@opentelemetry/exporter-trace-otlp-proto'),
        import('@opentelemetry/exporter-metrics-otlp-proto'),
        import('./open-telemetry-tracer.ts'),
        import('./prometheus-producer.ts'),
      ],
    )
    return { api, sdk, metrics, resources, traceExporter, metricExporter, ...tracer, ...producer }
  } catch (error: unknown) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    throw new CounterstepError(
      'SAGA_TELEMETRY_MISSING',
      `traces need packages that are not installed: npm install ${PACKAGES.join(' ')}`,
    )
  }
}

function ignore(): undefined {
  return undefined
}
