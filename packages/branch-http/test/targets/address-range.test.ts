import { describe, expect, it } from 'vitest'
import { parseAddressRange } from '../../src/targets/address-range.ts'
import { parseAllowedOrigins } from '../../src/targets/allowed-origin.ts'
import { type TargetPolicy, targetPolicy } from '../../src/targets/target-policy.ts'

function buildPolicy(allowed: string, others: 'none' | 'any' = 'none'): TargetPolicy {
  const read = parseAllowedOrigins(allowed)
  if ('problem' in read) throw new Error(read.problem)
  return targetPolicy({ services: [], allowed: read.value, others, isLocal: false })
}

function expectAllowed(policy: TargetPolicy, urls: readonly string[]): void {
  for (const url of urls) expect([url, policy.check(url)]).toEqual([url, undefined])
}

function expectRefused(policy: TargetPolicy, urls: readonly string[]): void {
  for (const url of urls) {
    expect([url, policy.check(url)]).toMatchObject([url, { code: 'SAGA_TARGET_NOT_ALLOWED' }])
    expect([url, policy.resolve(url)]).toMatchObject([url, { code: 'SAGA_TARGET_NOT_ALLOWED' }])
  }
}

describe('S1: a range of private addresses', () => {
  it('A range lists the addresses in it, by its scheme, at every port', () => {
    const policy = buildPolicy('http://10.0.0.0/8:*')
    expectAllowed(policy, ['http://10.0.0.1/', 'http://10.255.255.255:65535/a?b=c', 'http://10.1.2.3:8080/'])
    expectRefused(policy, [
      ...['http://11.0.0.1/', 'http://9.255.255.255/', 'https://10.0.0.1/', 'http://192.168.0.1/'],
      ...['http://[::ffff:a00:1]/', 'http://[fd00::a00:1]/', 'http://8.8.8.8/', 'http://127.0.0.1/'],
    ])
  })

  it('A range lists the port that it says, or the port of its scheme', () => {
    const policy = buildPolicy('http://10.1.0.0/16:8080,http://10.2.0.0/16,https://10.3.0.0/16:443')
    expectAllowed(policy, [
      'http://10.1.9.9:8080/',
      'http://10.2.0.1/',
      'http://10.2.0.1:80/',
      'https://10.3.0.1/',
    ])
    expectRefused(policy, ['http://10.1.9.9/', 'http://10.1.9.9:8081/', 'http://10.2.0.1:8080/'])
    expectRefused(policy, ['http://10.3.0.1:443/', 'https://10.3.0.1:444/', 'http://10.0.0.1:8080/'])
  })

  it('A range may be of IPv6', () => {
    const policy = buildPolicy('https://[fd00::]/8:*')
    expectAllowed(policy, ['https://[fd00::1]/', 'https://[fdff:1:2::3]:8443/'])
    expectRefused(policy, [
      'https://[fc00::1]/',
      'https://[fe80::1]/',
      'https://10.0.0.1/',
      'http://[fd00::1]/',
    ])
  })

  it('A range lists no name, whatever the name looks like or resolves to', () => {
    const policy = buildPolicy('http://10.0.0.0/8:*')
    expectRefused(policy, [
      ...['http://bank.internal:8080/', 'http://localhost:8080/', 'http://10.0.0.1.nip.io:8080/'],
      ...['http://10-0-0-1.example/', 'http://10.0.0.1.bank.internal/', 'http://a.10.0.0.1.example/'],
    ])
    for (const name of ['bank.internal', '10.0.0.1.nip.io', '10.0.0.1.', 'localhost', '10.1', '0xa.0.0.1'])
      expect([name, policy.mayReach(name, '10.0.0.1')]).toEqual([name, false])
  })

  it('A range lists no address in another notation than the usual', () => {
    const policy = buildPolicy('http://10.0.0.0/8:*')
    for (const host of ['10.1', '0xa.0.0.1', '167772161', '012.0.0.1', '10.0.0.01', '10.0.0.1.'])
      expect([host, policy.check(`http://${host}/`)]).toMatchObject([host, { code: 'SAGA_URL_INVALID' }])
  })

  it('S3: The range is asked again for the address of a connection', () => {
    const policy = buildPolicy('http://10.1.0.0/16:*,https://[fd12::]/16:*')
    expect(policy.mayReach('10.1.2.3', '10.1.2.3')).toBe(true)
    expect(policy.mayReach('fd12::1', 'fd12::1')).toBe(true)
    for (const address of ['10.2.0.1', '8.8.8.8', '127.0.0.1', '169.254.169.254', 'fd13::1', '::1', ''])
      expect([address, policy.mayReach('10.1.2.3', address)]).toEqual([address, false])
    expect(policy.mayReach('10.2.0.1', '10.2.0.1')).toBe(false)
  })

  it('S4: A range opens no address that is never called, though it lies in the range', () => {
    const policy = buildPolicy('http://100.64.0.0/10:*,http://[fc00::]/7:*')
    const NEVER = [
      ...['100.100.100.200', '[fd00:ec2::254]', '[fd00:ec2::23]', '[fd20:ce::254]'],
      ...['[fd00:c1::a9fe:a9fe]', '[fd00:a9fe:a9fe::1]', '[fd00:42::42]', '[fd00:100::100:200]'],
      // These are IPv4 addresses within a private prefix of IPv6, by ISATAP: metadata, and this machine.
      ...['[fd00::5efe:a9fe:a9fe]', '[fd00::200:5efe:7f00:1]'],
    ]
    expectRefused(
      policy,
      NEVER.flatMap((host) => [`http://${host}/`, `http://${host}:9001/latest`]),
    )
    for (const host of NEVER) {
      const address = host.replace(/[[\]]/g, '')
      expect([address, policy.mayReach(address, address)]).toEqual([address, false])
    }
    expectAllowed(policy, [
      'http://100.100.100.201/',
      'http://[fd00:ec3::254]/',
      'http://[fd00::5efe:a00:1]/',
    ])
  })

  it('S4: A range opens nothing of this machine and of the link, also beside free targets', () => {
    const policy = buildPolicy('http://10.0.0.0/8:*', 'any')
    expectRefused(policy, [
      ...['http://127.0.0.1:9001/', 'https://127.0.0.1:9001/', 'http://169.254.169.254/', 'http://[::1]/'],
      ...['https://169.254.170.2/', 'http://192.168.0.1/', 'http://metadata.google.internal/'],
    ])
    expectAllowed(policy, ['http://10.0.0.1:9001/', 'https://bank.test/'])
  })

  const WRONG = [
    // These are wider than the private networks, or beside them.
    ...['http://0.0.0.0/0:*', 'http://10.0.0.0/7:*', 'http://172.16.0.0/11:*', 'http://192.168.0.0/15:*'],
    ...[
      'http://8.8.8.0/24:*',
      'http://128.0.0.0/1',
      'https://[::]/0:*',
      'https://[fc00::]/6:*',
      'https://[2001:db8::]/32:*',
    ],
    // These are this machine, the link, metadata, and IPv4 in another form.
    ...['http://127.0.0.0/8:*', 'http://127.0.0.1/32:9001', 'http://[::1]/128:*', 'http://169.254.0.0/16:*'],
    ...[
      'http://169.254.169.254/32',
      'http://[fe80::]/10:*',
      'http://[fd00:ec2::]/32:*',
      'http://100.100.100.200/32',
    ],
    ...['http://[::ffff:a00:0]/104:*', 'http://[64:ff9b::]/96:*', 'http://224.0.0.0/4', 'http://0.0.0.0/8:*'],
    // These are not networks.
    ...[
      'http://10.0.0.1/8:*',
      'http://10.0.0.0/33:*',
      'http://10.0.0.0/999',
      'http://10.1/16',
      'http://010.0.0.0/8',
    ],
    ...[
      'http://10.0.0.0/8:0',
      'http://10.0.0.0/8:65536',
      'http://[fd00::1]/8:*',
      'http://[fd00::]/129',
      'http://10.0.0/24',
    ],
    // These are not ranges.
    ...[
      'http://10.0.0.0/8:*/',
      'http://10.0.0.0/8:*/admin',
      'http://10.0.0.0/8:**',
      'http://10.0.0.0/8:',
      'http://10.*:80',
    ],
    ...[
      'http://10.0.0.5:*',
      'http://bank.internal:*',
      'https://*.bank.internal:*',
      'http://bank.internal/8:*',
    ],
    ...[
      'ftp://10.0.0.0/8:*',
      '10.0.0.0/8:*',
      'http://u:secret@10.0.0.0/8:*',
      'http://*/8:*',
      'http://[fd00::%25eth0]/8',
    ],
  ]
  it.each(WRONG)('A range is refused at start when it is written so: %s', (text) => {
    const read = parseAllowedOrigins(`https://bank.test,${text}`)
    expect(read).toEqual({ problem: expect.stringMatching(/^has an item 2 that /) })
    expect(JSON.stringify(read)).not.toContain('secret')
  })

  it.each([
    'http://10.0.0.0/8',
    'HTTP://172.16.0.0/12:*',
    'http://192.168.1.0/24:1',
    'http://10.9.8.7/32:*',
    'https://[FD00::]/8',
  ])('A range is read when it is written so: %s', (text) =>
    expect(parseAddressRange(text)).toMatchObject({ type: 'range' }),
  )
})

describe('mutants of a range', () => {
  it('S4: A mutant without the table of addresses would call metadata in the range', () => {
    const read = parseAllowedOrigins('http://100.64.0.0/10:*')
    if ('problem' in read) throw new Error(read.problem)
    const mutant = targetPolicy(
      { services: [], allowed: read.value, others: 'none', isLocal: false },
      () => 'private',
    )
    expectAllowed(mutant, ['http://100.100.100.200/'])
  })
})
