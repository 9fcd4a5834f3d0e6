import { isDocumentText } from '@counterstep/core'
import { expect, it } from 'vitest'
import { readNodeDocument, writeNodeDocument } from '../../src/statistics/node-document.ts'
import { countAll } from '../../src/statistics/node-sums.ts'
import { buildPart, buildSums, MINUTE } from './support.ts'

const sums = buildSums({
  services: [buildPart({ key: 'bank', counts: [3, 1, 0, 2] })],
  names: [buildPart({ key: 'transfer', part: 'whole', counts: [3, 1, 0, 2] })],
  refused: [['SAGA_OVER_CAPACITY', 4]],
  loads: [{ service: 'bank', inFlight: 2, queued: 0 }],
})

it('A document says to another node what this one has counted', () => {
  expect(readNodeDocument(writeNodeDocument(sums))).toEqual(sums)
})

it('What has no room in the document is told as other, and no count is lost', () => {
  const services = Array.from({ length: 200 }, (_, n) => {
    const part = buildPart({ key: `service-${n}`, counts: [n, 0, 0, 1] })
    const minutes = Array.from(
      { length: 60 },
      (_, ago) => [MINUTE - 59 + ago, [123_456, 23_456, 3_456, 456]] as const,
    )
    return { ...part, minutes }
  })
  const text = writeNodeDocument(
    buildSums({ services, names: services.map((each) => ({ ...each, part: 'whole' })) }),
  )
  expect(isDocumentText(text)).toBe(true)
  const read = readNodeDocument(text)
  const total = read?.services.reduce((sum, { hour }) => sum + countAll(hour), 0)
  expect(total).toBe(services.reduce((sum, { hour }) => sum + countAll(hour), 0))
  expect(read?.services.map(({ key }) => key)).toContain('service-199')
  expect(read?.services.map(({ key }) => key)).toContain('other')
  expect(read?.services.map(({ key }) => key)).not.toContain('service-0')
})

const written = JSON.parse(writeNodeDocument(sums))
const UNREADABLE: readonly (readonly [string, string])[] = [
  ['no JSON', '{'],
  ['null', 'null'],
  ['a list', '[]'],
  ['another format', JSON.stringify({ ...written, format: 2 })],
  ...Object.keys(sums).map((key) => [`no ${key}`, JSON.stringify({ ...written, [key]: undefined })] as const),
  ['a negative count', writeNodeDocument(buildSums({ inFlight: -1 }))],
  ['a row that is too short', JSON.stringify({ ...written, names: [{ ...written.names[0], hour: [1] }] })],
  ['an unknown op', writeNodeDocument(sums).replace('"action"', '"dance"')],
]
it.each(UNREADABLE)('A document with %s is passed over', (_what, text) => {
  expect(readNodeDocument(text)).toBeUndefined()
})
