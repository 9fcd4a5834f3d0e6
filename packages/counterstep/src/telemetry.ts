import './check-node.ts'

export { createOpenTelemetryTracer as openTelemetryTracer } from '@counterstep/telemetry'
