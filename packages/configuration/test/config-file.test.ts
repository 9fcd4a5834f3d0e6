import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfigFile, readConfigText } from '../src/config-file.ts'
import { readSettings, SETTINGS } from '../src/index.ts'

const PATH = '/etc/counterstep.json'
const readText = (text: string) => readConfigText(text, PATH, SETTINGS)
const read = (value: unknown) => readText(JSON.stringify(value))

describe('a file of settings', () => {
  it('A file of settings has texts, numbers, switches, lists and named values in the form of the flags', () => {
    const { values, problems } = read({
      ...{ host: '::1', port: 0, plainIds: true, retryFactor: 1.5 },
      allowedHosts: ['a.example', 'b.example'],
      services: { bank: 'https://bank.example', shop: 'https://shop.example' },
    })
    expect(problems).toEqual([])
    expect(Object.fromEntries(values)).toEqual({
      ...{ host: '::1', port: '0', plainIds: 'true', retryFactor: '1.5' },
      allowedHosts: 'a.example,b.example',
      services: 'bank=https://bank.example,shop=https://shop.example',
    })
  })

  for (const text of ['[]', 'null', '7', '"port"']) {
    it(`A file of settings is refused when it is ${text}, which is no object`, () => {
      const problems = [`${PATH} must be a JSON object, { "port": 8470 }.`]
      expect(readText(text)).toEqual({ path: PATH, values: new Map(), problems })
    })
  }

  it('A file of settings is refused when it is too long', () => {
    expect(read({ host: 'x'.repeat(300_000) }).problems).toEqual([
      `${PATH} is longer than a file of settings may be (262144 characters).`,
    ])
  })

  for (const [text, place] of [
    ['', 'line 1, column 1'],
    ['{"port":', 'line 1, column 9'],
    ['{"port":}', 'line 1, column 9'],
    ['{\n  "port": 8470\n  "host": "::1"\n}\n', 'line 3, column 3'],
    ['{\n  "port": 8470,\n}\n', 'line 3, column 1'],
    ['{\n  "services": { "bank": secret }\n}\n', 'line 2, column 25'],
    [`{\n  "host": "${'x'.repeat(99)}",\n  "port": @\n}`, 'line 3, column 11'],
    ['{"host": "secret\n"}', 'line 1, column 17'],
    ["{'host': 1}", 'line 1, column 2'],
    ['{} {}', 'line 1, column 4'],
  ] as const) {
    it(`A broken file of settings is refused by line and column: ${JSON.stringify(text)}`, () => {
      expect(readText(text).problems).toEqual([`${PATH} is no JSON: the fault is at ${place}.`])
    })
  }

  for (const [name, nearest] of [
    ['prot', 'port'],
    ['retry-cap-ms', 'retryCapMs'],
    ['COUNTERSTEP_STORE_TLS', 'storeTls'],
    ['retentonMs', 'retentionMs'],
    ['service', 'services'],
    ['__proto__', 'port'],
  ] as const) {
    it(`A file of settings is refused when it names ${name}, and the message names the nearest setting`, () => {
      expect(readText(`{${JSON.stringify(name)}: "secret"}`).problems).toEqual([
        `"${name}" in ${PATH} is no setting; did you mean "${nearest}"?`,
      ])
    })
  }

  for (const name of ['toString', 'constructor', 'x'.repeat(99)]) {
    it(`A file of settings is refused when it names ${name}, which is like no setting`, () => {
      const text = `{${JSON.stringify(name)}: "secret"}`
      expect(readText(text).problems).toEqual([`${JSON.stringify(name)} in ${PATH} is no setting.`])
    })
  }

  for (const value of [null, [1], { bank: 1 }, { bank: 'a,b' }, ['a,b'], [['a']]]) {
    it(`A file of settings is refused when a value is ${JSON.stringify(value)}`, () => {
      expect(read({ services: value }).problems).toEqual([
        `"services" in ${PATH} has a value of no kind that a setting has.`,
      ])
    })
  }

  it.skipIf(process.platform === 'win32')(
    'A file of settings is refused where every user may change it',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'counterstep-config-'))
      const path = join(folder, 'settings.json')
      try {
        writeFileSync(path, '{"port": 1}')
        chmodSync(path, 0o666)
        const { values, problems } = readConfigFile(path, '--config', SETTINGS)
        expect([values.size, problems]).toEqual([0, [expect.stringContaining('every user may change')]])
        chmodSync(path, 0o664)
        expect(readConfigFile(path, '--config', SETTINGS).values.get('port')).toBe('1')
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  )

  it('A file that cannot be read is named by its setting and not by its path, which may be a misplaced password', () => {
    const folder = mkdtempSync(join(tmpdir(), 'counterstep-config-'))
    try {
      const path = join(folder, 'config.json')
      expect(readConfigFile(path, 'COUNTERSTEP_CONFIG', SETTINGS).problems).toEqual([
        'COUNTERSTEP_CONFIG names a file that cannot be read (ENOENT).',
      ])
      writeFileSync(path, '{"port": 1}')
      expect(readConfigFile(path, '--config', SETTINGS).values.get('port')).toBe('1')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('a setting', () => {
  const readPort = (flags: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>>) =>
    readSettings(SETTINGS, ['port'], {
      flags: new Map(Object.entries(flags)),
      environment,
      file: read({ port: 1 }),
    })

  it('A setting comes from its flag before its variable, and from its variable before the file', () => {
    expect(readPort({}, {}).known.port).toBe(1)
    expect(readPort({}, { COUNTERSTEP_PORT: '2' }).known.port).toBe(2)
    expect(readPort({ port: '3' }, { COUNTERSTEP_PORT: '2' }).known.port).toBe(3)
  })

  it('A wrong setting of the file is named with the path of the file', () => {
    const wrong = readSettings(SETTINGS, ['port'], { environment: {}, file: read({ port: 'x' }) })
    expect(wrong.problems).toEqual([`"port" in ${PATH} must be a whole number from 0 to 65535.`])
    expect(wrong.sources.get('port')).toBe(`"port" in ${PATH}`)
  })
})
