import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfigFile, readConfigText, readValues, SETTINGS } from '../src/index.ts'

const read = (value: unknown) => readConfigText(JSON.stringify(value), SETTINGS)
const NO_OBJECT = '--config names a file that is no JSON object.'

describe('a file of settings', () => {
  it('has texts, numbers, switches, lists and named values in the words of the flags', () => {
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

  for (const [what, text] of [
    ['no JSON', '{"port":'],
    ['a list', '[]'],
    ['null', 'null'],
    ['nothing', ''],
    ['too long', JSON.stringify({ host: 'x'.repeat(300_000) })],
  ] as const) {
    it(`is refused when it is ${what}`, () => {
      expect(readConfigText(text, SETTINGS)).toEqual({ values: new Map(), problems: [NO_OBJECT] })
    })
  }

  for (const name of ['prot', '__proto__', 'toString', 'retry-cap-ms']) {
    it(`is refused when it names ${name}, which is no setting`, () => {
      const text = `{${JSON.stringify(name)}: "secret"}`
      expect(readConfigText(text, SETTINGS).problems).toEqual([
        `${JSON.stringify(name)} in the file of --config is no setting.`,
      ])
    })
  }

  for (const value of [null, [1], { bank: 1 }, { bank: 'a,b' }, ['a,b'], [['a']]]) {
    it(`is refused when a value is ${JSON.stringify(value)}`, () => {
      expect(read({ services: value }).problems).toEqual([
        '"services" in the file of --config has a value of no kind that a setting has.',
      ])
    })
  }

  it('is refused when it cannot be read', () => {
    const folder = mkdtempSync(join(tmpdir(), 'counterstep-config-'))
    try {
      const path = join(folder, 'config.json')
      expect(readConfigFile(path, SETTINGS).problems).toEqual([
        '--config names a file that cannot be read (ENOENT).',
      ])
      writeFileSync(path, '{"port": 1}')
      expect(readConfigFile(path, SETTINGS).values.get('port')).toBe('1')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('a setting', () => {
  const file = new Map([['port', '1']])
  const port = (flags: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>>) =>
    readValues(SETTINGS, ['port'], { flags: new Map(Object.entries(flags)), environment, file })

  it('comes from its flag before its variable, and from that before the file', () => {
    expect(port({}, {}).known.port).toBe(1)
    expect(port({}, { COUNTERSTEP_PORT: '2' }).known.port).toBe(2)
    expect(port({ port: '3' }, { COUNTERSTEP_PORT: '2' }).known.port).toBe(3)
  })

  it('of the file is named when it is wrong', () => {
    const wrong = readValues(SETTINGS, ['port'], {
      flags: new Map(),
      environment: {},
      file: new Map([['port', 'x']]),
    })
    expect(wrong.problems).toEqual(['"port" in the file of --config must be a whole number from 0 to 65535.'])
    expect(wrong.sources.get('port')).toBe('"port" in the file of --config')
  })
})
