export { createOpenTelemetryTracer } from './open-telemetry-tracer.ts'
