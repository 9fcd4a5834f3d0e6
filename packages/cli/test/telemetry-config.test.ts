import { describe, expect, it } from 'vitest'
import { readCommand } from '../src/config.ts'

const OTLP = 'http://127.0.0.1:4318'

function readTelemetry(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const command = readCommand(['serve', ...args], environment)
  if (command.type !== 'serve') throw new Error(JSON.stringify(command))
  return command.config.telemetry
}

describe('where traces are sent', () => {
  it('No traces are sent unless a flag or a variable says where', () => {
    expect(readTelemetry([])).toBeUndefined()
    expect(readTelemetry([], { OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeUndefined()
  })

  it.each([
    [['--otlp', OTLP], {}, OTLP],
    [[], { COUNTERSTEP_OTLP: OTLP }, OTLP],
    [[], { OTEL_EXPORTER_OTLP_ENDPOINT: OTLP }, undefined],
    [[], { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${OTLP}/v1/traces` }, undefined],
  ])('%o with %o sends them', (args, environment, otlp) => {
    expect(readTelemetry(args, environment)).toEqual({
      otlp,
      serviceName: 'counterstep',
      sendsTraces: true,
      sendsMetrics: false,
      warnings: [],
    })
  })

  it('The variable of OpenTelemetry that switches it off does', () => {
    expect(readTelemetry(['--otlp', OTLP], { OTEL_SDK_DISABLED: 'TRUE' })).toBeUndefined()
  })

  it.each([
    [{ OTEL_SERVICE_NAME: 'orders' }],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'service.name=orders,env=test' }],
  ])('%o names the service', (environment) => {
    expect(readTelemetry(['--otlp', OTLP], environment)).toMatchObject({ serviceName: undefined })
  })

  it('Metrics are sent where OpenTelemetry is told so', () => {
    expect(readTelemetry(['--otlp', OTLP], { OTEL_METRICS_EXPORTER: 'otlp' })).toMatchObject({
      sendsMetrics: true,
    })
  })

  it('No traces are sent where OpenTelemetry is told so', () => {
    const noTraces = { OTEL_TRACES_EXPORTER: 'none' }
    expect(readTelemetry(['--otlp', OTLP], noTraces)).toBeUndefined()
    expect(readTelemetry(['--otlp', OTLP], { ...noTraces, OTEL_METRICS_EXPORTER: 'otlp' })).toMatchObject({
      sendsTraces: false,
      sendsMetrics: true,
    })
  })

  it('A protocol that is not spoken is told', () => {
    const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: OTLP, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }
    expect(readTelemetry([], variables)?.warnings).toEqual([
      'OTEL_EXPORTER_OTLP_PROTOCOL asks for another protocol than http/protobuf, which is the only one that is spoken.',
    ])
    expect(
      readTelemetry([], { ...variables, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' })?.warnings,
    ).toEqual([])
  })

  const ODD = ['http:user:word@127.0.0.1:4318', 'http:/user:word@127.0.0.1:4318/p://x']
  it.each(['127.0.0.1:4318', 'grpc://127.0.0.1:4317', `${OTLP}?x=1`, `${OTLP}/v1/traces`, ...ODD])(
    '%s is refused',
    (given) => {
      const command = readCommand(['serve', '--otlp', given], {})
      expect(command).toMatchObject({
        type: 'refused',
        problems: [expect.stringContaining('--otlp must be the URL of a receiver')],
      })
    },
  )
})

describe('how many processes share a port', () => {
  it('It is one unless it is said', () => {
    expect(readCommand(['serve'], {})).toMatchObject({ config: { processes: 1 } })
    const args = ['serve', '--store', 'redis://127.0.0.1/0', '--processes', '3']
    expect(readCommand(args, {})).toMatchObject({ config: { processes: 3 } })
  })

  it('The embedded store is for one process, and refuses more by name', () => {
    expect(readCommand(['serve', '--processes', '2'], {})).toMatchObject({
      type: 'refused',
      problems: [expect.stringMatching(/--processes .*(sqlite|embedded)/i)],
    })
  })

  it.each(['0', '65', 'all'])('%s is refused', (given) => {
    const args = ['serve', '--store', 'redis://127.0.0.1/0', '--processes', given]
    expect(readCommand(args, {})).toMatchObject({ type: 'refused' })
  })
})
