import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_CALLER_LIMITS } from '@counterstep/branch-http'
import { targetPolicy } from '@counterstep/branch-http/targets'
import { selfSignedCertificate } from '@counterstep/test-servers/certificate'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readCommand, type ServeConfig } from '../src/config.ts'

type Environment = Readonly<Record<string, string>>

function readConfig(args: readonly string[], environment: Environment = {}): ServeConfig {
  const command = readCommand(['serve', ...args], { COUNTERSTEP_KEYS_FILE: 'keys.json', ...environment })
  if (command.type !== 'serve') throw new Error(JSON.stringify(command))
  return command.config
}

function readProblems(args: readonly string[], environment: Environment = {}): readonly string[] {
  const command = readCommand(['serve', ...args], { COUNTERSTEP_KEYS_FILE: 'keys.json', ...environment })
  return command.type === 'refused' ? command.problems : []
}

describe('S1: targets', () => {
  it('Targets are on this machine only, for a loopback bind without settings', () => {
    for (const host of ['127.0.0.1', 'localhost', '::1'])
      expect(readConfig(['--host', host]).targets).toEqual({
        services: [],
        allowed: [],
        others: 'loopback',
        isLocal: true,
      })
  })

  it.each(['0.0.0.0', '::', '10.0.0.1', 'server.test'])(
    'Targets must be configured for a bind to %s',
    (host) => {
      const problems = readProblems(['--host', host])
      expect(problems).toHaveLength(1)
      for (const choice of ['--services', '--allow-targets', '--allow-any-target'])
        expect(problems[0]).toContain(choice)
      expect(readProblems(['--host', host, '--dtm-port', 'off'])).toHaveLength(1)
      expect(readProblems(['--host', host, '--services', '']).join()).toContain('--services is empty')
    },
  )

  it.each([
    ['--services', 'bank=https://bank.test'],
    ['--allow-targets', 'https://bank.test'],
    ['--allow-any-target'],
  ])('Targets are configured by %s', (...choice) => {
    expect(readProblems(['--host', '0.0.0.0', ...choice])).toEqual([])
  })

  it('Targets may be configured by variables', () => {
    const { targets } = readConfig(['--host', '0.0.0.0'], {
      COUNTERSTEP_SERVICES: 'bank=https://bank.test/api',
      COUNTERSTEP_ALLOW_TARGETS: 'https://a.test, https://*.b.test',
    })
    expect(targets).toMatchObject({ others: 'none', isLocal: false })
    expect([targets.services.length, targets.allowed.length]).toEqual([1, 2])
    const any = readConfig(['--host', '0.0.0.0'], { COUNTERSTEP_ALLOW_ANY_TARGET: 'true' })
    expect(any.targets.others).toBe('any')
  })

  it('Listed targets are the only ones, on a loopback bind too', () => {
    expect(readConfig(['--services', 'bank=https://bank.test']).targets.others).toBe('none')
    expect(readConfig(['--allow-targets', 'https://bank.test']).targets.others).toBe('none')
  })

  it.each([
    ['--allow-targets', 'http://127.0.0.1:9000'],
    ['--services', 'own=http://127.0.0.1:9000'],
  ])(
    'S43: A list with --allow-any-target opens no other port of this machine, on a loopback bind too: %s %s',
    (...list) => {
      const { targets } = readConfig([...list, '--allow-any-target'])
      const policy = targetPolicy(targets)
      for (const url of ['http://127.0.0.1:5432/', 'https://localhost/', 'http://bank.test/'])
        expect(policy.check(url)).toMatchObject({ code: 'SAGA_TARGET_NOT_ALLOWED' })
      expect(policy.check('https://bank.test/')).toBeUndefined()
      for (const address of ['127.0.0.1', '::1']) expect(policy.mayReach('bank.test', address)).toBe(false)
      expect(policy.mayReach('bank.test', '10.0.0.1')).toBe(true)
    },
  )

  it('A server that may call any target is warned', () => {
    expect(readConfig(['--allow-any-target']).warnings).toEqual([
      expect.stringContaining('INSECURE --allow-any-target'),
    ])
    expect(readConfig(['--services', 'bank=https://bank.test']).warnings).toEqual([])
  })

  it('A target may be a range of private addresses, and a range with every port is warned of', () => {
    const ranges = 'http://10.0.0.0/8:*,https://[fd00::]/8:8443'
    const config = readConfig(['--host', '0.0.0.0', '--allow-targets', ranges])
    expect(config.targets).toMatchObject({
      others: 'none',
      allowed: [
        { type: 'range', protocol: 'http:', port: '*', family: 'ipv4' },
        { type: 'range', protocol: 'https:', port: '8443', family: 'ipv6' },
      ],
    })
    const EVERY = expect.stringContaining('--allow-targets has a range of addresses with every port')
    expect(config.warnings).toEqual([EVERY])
    expect(readConfig(['--allow-targets', 'http://10.0.0.0/8:8080']).warnings).toEqual([])
  })

  it.each([
    'http://0.0.0.0/0:*',
    'http://10.0.0.0/7:*',
    'http://127.0.0.0/8:*',
    'http://bank.internal:*',
    'https://*.co.uk',
  ])('A list of targets that is too wide is refused at start: %s', (text) => {
    const PROBLEM = expect.stringMatching(/^--allow-targets has an item 1 that /)
    expect(readProblems(['--allow-targets', text])).toEqual([PROBLEM])
  })

  it('A target that is written wrong is refused by name, and not quoted', () => {
    const problems = [
      ...readProblems(['--services', 'bank=https://u:secret@bank.test']),
      ...readProblems(['--allow-targets', 'https://u:secret@bank.test']),
    ]
    expect(problems).toEqual([
      expect.stringMatching(/^--services has an item 1 that /),
      expect.stringMatching(/^--allow-targets has an item 1 that /),
    ])
    expect(problems.join()).not.toContain('secret')
  })
})

describe('S8: the bounds of branch calls', () => {
  it('The bounds of branch calls are the defaults of the caller unless they are set', () => {
    expect(readConfig([]).caller).toEqual({
      answerExcerpts: true,
      connectionsPerOriginMax: DEFAULT_CALLER_LIMITS.connectionsPerOriginMax,
      queuedPerOriginMax: DEFAULT_CALLER_LIMITS.queuedPerOriginMax,
      originsMax: DEFAULT_CALLER_LIMITS.originsMax,
      connectTimeoutMs: DEFAULT_CALLER_LIMITS.connectTimeoutMs,
      keepAliveMs: DEFAULT_CALLER_LIMITS.keepAliveMs,
      connectionAgeMsMax: DEFAULT_CALLER_LIMITS.connectionAgeMsMax,
      answerBodyBytesMax: DEFAULT_CALLER_LIMITS.answerBodyBytesMax,
      answerHeaderBytesMax: DEFAULT_CALLER_LIMITS.answerHeaderBytesMax,
      tls: new Map(),
    })
  })

  const SETTINGS = [
    ['connections-per-origin-max', 'connectionsPerOriginMax'],
    ['queued-per-origin-max', 'queuedPerOriginMax'],
    ['origins-max', 'originsMax'],
    ['connect-timeout-ms', 'connectTimeoutMs'],
    ['keep-alive-ms', 'keepAliveMs'],
    ['connection-age-ms-max', 'connectionAgeMsMax'],
    ['answer-body-bytes-max', 'answerBodyBytesMax'],
    ['answer-header-bytes-max', 'answerHeaderBytesMax'],
  ] as const
  it.each(SETTINGS)('A bound of branch calls is set by --%s', (flag, name) => {
    expect(readConfig([`--${flag}`, '77']).caller[name]).toBe(77)
    expect(readProblems([`--${flag}`, '0'])).toEqual([expect.stringContaining(`--${flag} must be`)])
  })

  it('S7: Excerpts of answers may be switched off', () => {
    expect(readConfig(['--answer-excerpts', 'off']).caller.answerExcerpts).toBe(false)
    expect(readProblems(['--answer-excerpts', 'no'])).toHaveLength(1)
  })
})

describe('the certificates of a named service', () => {
  const DAY_MS = 24 * 3_600_000
  const VALIDITY = { validFrom: new Date(Date.now() - DAY_MS), validTo: new Date(Date.now() + DAY_MS) }
  const own = selfSignedCertificate({ ...VALIDITY, address: '127.0.0.1' })
  const other = selfSignedCertificate({ ...VALIDITY, address: '127.0.0.1' })
  const SERVICES = [
    '--services',
    'bank=https://bank.test:8443/api,ledger=https://ledger.test,old=http://old.test',
  ]

  /** Writes a file with that text and returns its path; it is removed when the test ends. */
  function fileWith(text: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'service-tls-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'file.pem')
    writeFileSync(path, text)
    return path
  }

  it('The certificates of a named service are read from the files that its settings name, and are for its origin', () => {
    const [ca, cert, key] = [other.cert, own.cert, own.key].map(fileWith)
    const flags = [
      '--service-ca',
      `bank=${ca}`,
      '--service-cert',
      `bank=${cert}`,
      '--service-key',
      `bank=${key}`,
    ]
    expect(readConfig([...SERVICES, ...flags]).caller.tls).toEqual(
      new Map([['https://bank.test:8443', { ca: other.cert, cert: own.cert, key: own.key }]]),
    )
    const byVariable = readConfig(SERVICES, { COUNTERSTEP_SERVICE_CA: `ledger=${ca}, bank=${ca}` })
    expect([...(byVariable.caller.tls?.keys() ?? [])]).toEqual([
      'https://bank.test:8443',
      'https://ledger.test',
    ])
  })

  it.each([
    [
      'of no service',
      () => ['--service-ca', `none=${fileWith(own.cert)}`],
      'names none, which is no named service',
    ],
    ['of a service by http', () => ['--service-ca', `old=${fileWith(own.cert)}`], 'is not called by https'],
    ['without the key', () => ['--service-cert', `bank=${fileWith(own.cert)}`], 'must come together'],
    ['that is not there', () => ['--service-ca', 'bank=/none.pem'], 'cannot be read (ENOENT), for bank'],
    ['that is no PEM', () => ['--service-ca', `bank=${fileWith('no')}`], 'without PEM, for bank'],
    ['without a name', () => ['--service-ca', fileWith(own.cert)], 'must be NAME=FILE'],
    ['given twice', () => ['--service-ca', `bank=${fileWith(own.cert)},bank=${fileWith(own.cert)}`], 'twice'],
    [
      'with another key',
      () => ['--service-cert', `bank=${fileWith(own.cert)}`, '--service-key', `bank=${fileWith(other.key)}`],
      'names bank, whose files cannot be used (',
    ],
  ])('Certificates are refused at the start: a file %s', (_what, flags, problem) => {
    expect(readProblems([...SERVICES, ...flags()])).toEqual([expect.stringContaining(problem)])
  })

  it('Certificates are refused where another service has the same origin', () => {
    const services = ['--services', 'a=https://bank.test/a,b=https://bank.test/b']
    const problems = readProblems([...services, '--service-ca', `a=${fileWith(own.cert)}`])
    expect(problems).toEqual([expect.stringContaining('whose origin is another service too')])
  })
})

describe('the egress proxy', () => {
  it('There is no egress proxy unless a setting names it, and then the server warns who checks addresses', () => {
    const environment = { HTTPS_PROXY: 'http://proxy.test:3128', ALL_PROXY: 'http://proxy.test:3128' }
    expect(readConfig([], environment).caller.proxyUrl).toBeUndefined()
    const config = readConfig(['--egress-proxy', 'http://user:secret@proxy.test:3128'])
    expect(config.caller.proxyUrl).toBe('http://user:secret@proxy.test:3128/')
    expect(config.warnings).toEqual([expect.stringContaining('--egress-proxy the proxy looks up the names')])
  })

  it.each(['proxy.test:3128', 'socks5://proxy.test', 'http://u:secret@proxy.test/path'])(
    'An egress proxy is refused that is not written as the URL of a proxy: %s',
    (url) => {
      const problems = readProblems(['--egress-proxy', url])
      expect(problems).toEqual([expect.stringContaining('--egress-proxy must be the URL of a proxy')])
      expect(problems[0]).not.toContain('secret')
    },
  )
})
