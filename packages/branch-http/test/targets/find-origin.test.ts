import { describe, expect, it } from 'vitest'
import {
  createOriginFinder,
  listOrigins,
  parseAllowedOrigins,
  parseServices,
  targetPolicy,
} from '../../src/targets/index.ts'

describe('S40: the origin of a branch URL', () => {
  const bank = { name: 'bank', origin: 'http://10.0.0.5:8080', hostname: '10.0.0.5', base: '/api' }
  const findOrigin = createOriginFinder(
    targetPolicy({ services: [bank], allowed: [], others: 'loopback', isLocal: true }),
  )

  it('A named service and its address have one origin, and so have all spellings of a host and its usual port', () => {
    expect(findOrigin('bank:/debit')).toBe('http://10.0.0.5:8080')
    for (const url of ['http://localhost/x', 'http://LOCALHOST/y', 'HTTP://localhost:80?z=/'])
      expect(findOrigin(url)).toBe('http://localhost')
  })

  it('A URL that may not be called has no origin', () => {
    for (const url of ['ledger:/note', 'http://bank.example/x', 'nothing'])
      expect(findOrigin(url)).toBeUndefined()
  })
})

describe('S40: the origins that rules name', () => {
  it('The rules name the origins of services and of exact entries, each once, but none of a wildcard or a range', () => {
    const services = parseServices('bank=http://10.0.0.5:8080/api,ledger=https://ledger.example')
    const allowed = parseAllowedOrigins(
      'https://LEDGER.example:443,https://a.example,https://*.b.example,http://10.0.0.0/8:*',
    )
    if ('problem' in services || 'problem' in allowed) throw new Error('the lists are right')
    expect(listOrigins({ services: services.value, allowed: allowed.value })).toEqual([
      'http://10.0.0.5:8080',
      'https://ledger.example',
      'https://a.example',
    ])
  })
})
