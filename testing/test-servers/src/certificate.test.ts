import { X509Certificate } from 'node:crypto'
import { expect, it } from 'vitest'
import { selfSignedCertificate } from './certificate.ts'

it('A certificate is for one address, for a time, and signed by itself', () => {
  const validFrom = new Date('2020-01-02T03:04:05Z')
  const validTo = new Date('2051-06-07T08:09:10Z')
  const { cert } = selfSignedCertificate({ validFrom, validTo, address: '127.0.0.1' })
  const read = new X509Certificate(cert)
  expect([read.validFromDate, read.validToDate]).toEqual([validFrom, validTo])
  expect(read.checkIP('127.0.0.1')).toBe('127.0.0.1')
  expect(read.checkIP('127.0.0.2')).toBeUndefined()
  expect(read.verify(read.publicKey)).toBe(true)
})
