import { describe, expect, it } from 'vitest'
import { parseEndpoint } from '../../src/targets/named-service.ts'
import { targetPolicy } from '../../src/targets/target-policy.ts'

const SECRET = 'https://hooks.slack.example/services/T0/B0/Qm9vbQ?thread=1'

function buildPolicy(url: string, others: 'none' | 'any' = 'none') {
  const service = parseEndpoint('alert-ops', url)
  if (typeof service === 'string') throw new Error(service)
  return targetPolicy({ services: [service], allowed: [], others, isLocal: false })
}

describe('S31: a service of one whole URL, which only the server itself calls', () => {
  it('S31: It is called as it is written', () => {
    const policy = buildPolicy(SECRET)
    expect(String(policy.resolve('alert-ops:/'))).toBe(SECRET)
    expect(policy.isWhole?.('alert-ops:/')).toBe(true)
    expect(policy.isWhole?.('https://hooks.slack.example/')).toBe(false)
  })

  it('S31: No request may name it, however the request writes it, and the refusal does not tell that it is there', () => {
    for (const others of ['none', 'any'] as const) {
      const policy = buildPolicy(SECRET, others)
      const unknown = policy.check('bank:/')
      for (const url of ['alert-ops:/', 'alert-ops:/?a=1', 'alert-ops:/x', 'alert-ops:/../'])
        expect(policy.check(url)).toEqual(unknown)
      expect(unknown).toMatchObject({ code: 'SAGA_TARGET_NOT_ALLOWED' })
    }
  })

  it('S31: It does not make a target of its origin', () => {
    expect(buildPolicy(SECRET).check('https://hooks.slack.example/')).toMatchObject({
      code: 'SAGA_TARGET_NOT_ALLOWED',
    })
  })

  it('S31: Nothing can be put behind it', () => {
    expect(buildPolicy(SECRET).resolve('alert-ops:/more')).toMatchObject({ code: 'SAGA_URL_INVALID' })
  })

  it('S31: Its name may turn out to be private, as that of any named service, but never this machine or metadata', () => {
    const policy = buildPolicy(SECRET)
    const reached = (address: string) => policy.mayReach('hooks.slack.example', address)
    expect(['8.8.8.8', '10.0.0.5', '127.0.0.1', '169.254.169.254'].map(reached)).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  for (const [what, url] of [
    ['link-local', 'http://169.254.169.254/latest'],
    ['another scheme', 'ftp://hooks.example/'],
    ['a login', 'https://me:secret@hooks.example/'],
    ['a fragment', 'https://hooks.example/#a'],
    ['a space', 'https://hooks.example/a b'],
    ['an odd notation of its host', 'http://0x7f.1/'],
    ['a parameter that would pass for the identity of a call', 'https://hooks.example/?gid=1'],
    ['no host', 'alert-ops:/'],
  ] as const) {
    it(`S31: A URL is refused with ${what}, and is not quoted`, () => {
      const problem = parseEndpoint('alert-ops', url)
      expect(problem).toEqual(expect.any(String))
      expect(problem).not.toContain('example')
      expect(problem).not.toContain('secret')
    })
  }
})
