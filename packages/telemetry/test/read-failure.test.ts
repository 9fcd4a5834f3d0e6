import { expect, it } from 'vitest'
import { readFailure } from '../src/read-failure.ts'

it.each([
  [
    JSON.stringify({ name: 'OTLPExporterError', message: 'Not Found', stack: 'at x', code: '404' }),
    'telemetry could not be sent: OTLPExporterError: Not Found: 404',
  ],
  [
    JSON.stringify({ name: 'AggregateError', message: '', stack: 'at x', code: 'ECONNREFUSED' }),
    'telemetry could not be sent: AggregateError: ECONNREFUSED',
  ],
  ['The receiver is away.', 'The receiver is away.'],
  ['null', 'null'],
  ['{"stack":"at x"}', '{"stack":"at x"}'],
])('%s is told as %s', (text, told) => {
  expect(readFailure(text)).toBe(told)
})

it('A long text of a receiver is cut', () => {
  const told = readFailure(JSON.stringify({ name: 'OTLPExporterError', message: 'x'.repeat(16_000) }))
  expect(told).toMatch(/^telemetry could not be sent: OTLPExporterError: x+…$/)
  expect(told).toHaveLength(512)
})
