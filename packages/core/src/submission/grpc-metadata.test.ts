import { expect, it } from 'vitest'
import { findBadMetadata, toMetadata } from './grpc-metadata.ts'

it('A call over gRPC carries the headers that belong to nothing else, with names in small letters', () => {
  const own = { 'X-Tenant': 'a', 'x_y.z': '' }
  const others = { accept: '1', 'HTTP2-Settings': '1', 'grpc-timeout': '1', 'dtm-gid': '1', host: '1' }
  expect(toMetadata({ ...own, ...others })).toEqual([
    ['x-tenant', 'a'],
    ['x_y.z', ''],
  ])
})

it('It finds a header that metadata cannot carry', () => {
  expect(findBadMetadata({ 'X-Tenant': 'a b', accept: '\t', 'grpc-!': 'ä' })).toBeUndefined()
  expect(findBadMetadata({ a: '1', 'X!Y': '1' })).toBe('x!y')
  expect(findBadMetadata({ tab: 'a\tb' })).toBe('tab')
  expect(findBadMetadata({ far: 'ä' })).toBe('far')
})
