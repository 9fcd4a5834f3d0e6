import { describe, expect, it } from 'vitest'
import { admitServers, type Terms } from './admit-servers.ts'
import type { ServerFacts, Settings } from './server-facts.ts'

const TERMS: Terms = { isCluster: false, acceptClassC: false, declared: undefined }
const ALWAYS: Settings = {
  appendonly: 'yes',
  appendfsync: 'always',
  'no-appendfsync-on-rewrite': 'no',
  'maxmemory-policy': 'noeviction',
}

function server(settings: Settings, facts: Partial<ServerFacts> = {}): ServerFacts {
  return {
    server: 'a:1',
    version: '7.0.15',
    isClusterNode: false,
    role: 'master',
    replicas: 0,
    settings,
    ...facts,
  }
}

function hiding(settings: Settings, ...hidden: (keyof Settings)[]): Settings {
  return Object.fromEntries(
    Object.entries(settings).filter(([name]) => !hidden.includes(name as keyof Settings)),
  )
}

describe('the durability class', () => {
  it('The durability class is the one that the settings give', () => {
    expect(admitServers([server(ALWAYS)], TERMS)).toBe('A')
    expect(admitServers([server({ ...ALWAYS, appendfsync: 'everysec' })], TERMS)).toBe('B')
  })

  it('The durability class is the lowest of all masters', () => {
    const everySecond = server({ ...ALWAYS, appendfsync: 'everysec' })
    expect(admitServers([server(ALWAYS), everySecond, server(ALWAYS)], TERMS)).toBe('B')
  })

  const lossy: Record<string, Settings> = {
    'appendonly is no': { ...ALWAYS, appendonly: 'no' },
    'appendfsync is no': { ...ALWAYS, appendfsync: 'no' },
    'no-appendfsync-on-rewrite is yes': { ...ALWAYS, 'no-appendfsync-on-rewrite': 'yes' },
    'maxmemory-policy is allkeys-lru': { ...ALWAYS, 'maxmemory-policy': 'allkeys-lru' },
    'maxmemory-policy is volatile-ttl': { ...ALWAYS, 'maxmemory-policy': 'volatile-ttl' },
  }
  for (const [reason, settings] of Object.entries(lossy)) {
    it(`A server without durability is refused by name: ${reason}`, () => {
      const servers = [server(ALWAYS), server(settings)]
      expect(() => admitServers(servers, { ...TERMS, declared: 'A' })).toThrow(
        expect.objectContaining({ code: 'SAGA_STORE_NOT_DURABLE', message: expect.stringContaining(reason) }),
      )
      expect(admitServers(servers, { ...TERMS, acceptClassC: true })).toBe('C')
    })
  }

  it('The durability class is B where CONFIG is hidden and INFO shows an append-only file, or the one that is declared', () => {
    const info = server(hiding(ALWAYS, 'appendfsync', 'no-appendfsync-on-rewrite'))
    expect(admitServers([info], TERMS)).toBe('B')
    expect(admitServers([info], { ...TERMS, declared: 'A' })).toBe('A')
  })

  it('A server is refused where all is hidden, unless its class is declared or forced', () => {
    const hidden = { server: 'a:1', settings: {} }
    expect(() => admitServers([hidden], TERMS)).toThrow(
      expect.objectContaining({ code: 'SAGA_STORE_NOT_DURABLE' }),
    )
    expect(admitServers([hidden], { ...TERMS, declared: 'B' })).toBe('B')
    expect(admitServers([hidden], { ...TERMS, acceptClassC: true })).toBe('C')
  })

  it('A declared durability class does not raise the one that can be read', () => {
    const settings = { ...ALWAYS, appendfsync: 'everysec' }
    expect(admitServers([server(settings)], { ...TERMS, declared: 'A' })).toBe('B')
  })
})

describe('a server', () => {
  const unusable: Record<string, [Partial<ServerFacts>, Partial<Terms>]> = {
    'older than 7': [{ version: '6.2.14' }, {}],
    'in a cluster, named as one server': [{ isClusterNode: true }, {}],
    'in no cluster, named as one': [{ isClusterNode: false }, { isCluster: true }],
  }
  for (const [title, [facts, terms]] of Object.entries(unusable)) {
    it(`A server is refused that is ${title}`, () => {
      expect(() => admitServers([server(ALWAYS, facts)], { ...TERMS, ...terms, acceptClassC: true })).toThrow(
        expect.objectContaining({ code: 'SAGA_STORE_UNSUPPORTED' }),
      )
    })
  }

  it('A server that is a replica is unavailable', () => {
    expect(() => admitServers([server(ALWAYS, { role: 'slave' })], TERMS)).toThrow(
      expect.objectContaining({ code: 'SAGA_STORE_UNAVAILABLE', applied: 'no' }),
    )
  })

  it('The version 10 is newer than 7', () => {
    expect(admitServers([server(ALWAYS, { version: '10.0.0' })], TERMS)).toBe('A')
  })
})
