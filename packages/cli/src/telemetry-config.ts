import type { Environment } from '@counterstep/configuration'

export interface TelemetryConfig {
  /** The URL of a receiver of OTLP over HTTP. Absent: the variables of OpenTelemetry's specification name it. */
  readonly otlp: string | undefined
  /** Absent: these variables name it. */
  readonly serviceName: string | undefined
  readonly sendsTraces: boolean
  readonly sendsMetrics: boolean
  /** These texts are for the log. */
  readonly warnings: readonly string[]
}

const PROTOCOL = 'http/protobuf'
const PROTOCOL_VARIABLES = ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL']

/**
 * Reads where traces go, and whether metrics go there too, which are scraped at `/metrics` anyway. The variables are those of
 * OpenTelemetry's specification. Returns undefined if nothing is sent.
 */
export function readTelemetry(
  otlp: string | undefined,
  environment: Environment,
): TelemetryConfig | undefined {
  const endpoint =
    otlp || environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  const sendsTraces = environment.OTEL_TRACES_EXPORTER !== 'none'
  const sendsMetrics = environment.OTEL_METRICS_EXPORTER === 'otlp'
  const isOff = environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true'
  if (!endpoint || isOff || !(sendsTraces || sendsMetrics)) return undefined
  const isNamed =
    environment.OTEL_SERVICE_NAME || environment.OTEL_RESOURCE_ATTRIBUTES?.includes('service.name=')
  const warnings = PROTOCOL_VARIABLES.filter(
    (name) => environment[name] && environment[name] !== PROTOCOL,
  ).map((name) => `${name} asks for another protocol than ${PROTOCOL}, which is the only one that is spoken.`)
  return Object.freeze({
    otlp,
    serviceName: isNamed ? undefined : 'counterstep',
    sendsTraces,
    sendsMetrics,
    warnings: Object.freeze(warnings),
  })
}
