import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseAlerts, readAlertsFile } from '../src/alerts/alerts-file.ts'

const SECRET = 'https://hooks.slack.example/services/T0/B0/Qm9vbQ'
const TARGET = { name: 'ops', url: SECRET }
const FILE = { consoleUrl: 'https://counterstep.example', targets: [TARGET] }
const parse = (value: unknown) => parseAlerts(JSON.stringify(value))

describe('the file of alerts', () => {
  it('A target is told of everything as JSON unless the file says more', () => {
    expect(parse(FILE)).toEqual({
      value: {
        consoleUrl: 'https://counterstep.example',
        failedShare: 0.05,
        targets: [
          {
            name: 'ops',
            service: {
              name: 'alert-ops',
              origin: 'https://hooks.slack.example',
              hostname: 'hooks.slack.example',
              base: '',
              endpoint: SECRET,
            },
            format: 'json',
            rules: ['attention', 'failed', 'stuck', 'paused', 'store', 'bulk'],
          },
        ],
      },
    })
  })

  it('A target may be told of some rules, names and tags, in the form of Slack', () => {
    const target = {
      ...TARGET,
      format: 'slack',
      rules: ['store', 'attention'],
      names: ['transfer'],
      tags: { region: 'eu' },
    }
    const read = parse({ ...FILE, failedShare: 1, targets: [target] })
    expect(read).toMatchObject({
      value: {
        failedShare: 1,
        targets: [
          { format: 'slack', rules: ['attention', 'store'], names: ['transfer'], tags: { region: 'eu' } },
        ],
      },
    })
  })

  for (const [given, kept] of [
    ['https://counterstep.example/', 'https://counterstep.example'],
    ['https://counterstep.example/prefix/', 'https://counterstep.example/prefix'],
    ['http://10.0.0.5:8470/console/', 'http://10.0.0.5:8470'],
  ] as const) {
    it(`The console of ${given} is below ${kept}`, () =>
      expect(parse({ ...FILE, consoleUrl: given })).toMatchObject({ value: { consoleUrl: kept } }))
  }

  const withTarget = (change: object) => ({ ...FILE, targets: [{ ...TARGET, ...change }] })
  for (const [what, value, ...places] of [
    ['a list', [], 'SAGA_INVALID at its top'],
    ['a field too many', { ...FILE, targtes: [] }, 'SAGA_UNKNOWN_FIELD at its top'],
    ['no console', { targets: [TARGET] }, 'SAGA_URL_INVALID at /consoleUrl'],
    [
      'a console with a login',
      { ...FILE, consoleUrl: 'https://a:b@c.example' },
      'SAGA_URL_INVALID at /consoleUrl',
    ],
    [
      'a console of another scheme',
      { ...FILE, consoleUrl: 'javascript:alert(1)' },
      'SAGA_URL_INVALID at /consoleUrl',
    ],
    [
      'a console that is too long',
      { ...FILE, consoleUrl: `https://a.example/${'x'.repeat(500)}` },
      'SAGA_URL_INVALID at /consoleUrl',
    ],
    ['a share of 0', { ...FILE, failedShare: 0 }, 'SAGA_INVALID at /failedShare'],
    ['a share over 1', { ...FILE, failedShare: 1.1 }, 'SAGA_INVALID at /failedShare'],
    ['no targets', { ...FILE, targets: [] }, 'SAGA_INVALID at /targets'],
    ['too many targets', { ...FILE, targets: Array(21).fill(TARGET) }, 'SAGA_INVALID at /targets'],
    [
      'two targets of one name',
      { ...FILE, targets: [TARGET, TARGET] },
      'SAGA_NAME_INVALID at /targets/1/name',
    ],
    [
      'a target that is a text',
      { ...FILE, targets: [SECRET] },
      'SAGA_INVALID at /targets/0',
      'SAGA_NAME_INVALID at /targets/0/name',
      'SAGA_URL_INVALID at /targets/0/url',
    ],
    ['a name in capitals', withTarget({ name: 'OPS' }), 'SAGA_NAME_INVALID at /targets/0/name'],
    ['a name that is too long', withTarget({ name: 'a'.repeat(33) }), 'SAGA_NAME_INVALID at /targets/0/name'],
    [
      'a URL with a login',
      withTarget({ url: 'https://me:Qm9vbQ@hooks.slack.example/' }),
      'SAGA_URL_INVALID at /targets/0/url',
    ],
    [
      'a URL of a metadata service',
      withTarget({ url: 'http://169.254.169.254/' }),
      'SAGA_URL_INVALID at /targets/0/url',
    ],
    ['a URL that is a number', withTarget({ url: 7 }), 'SAGA_URL_INVALID at /targets/0/url'],
    ['another format', withTarget({ format: 'teams' }), 'SAGA_INVALID at /targets/0/format'],
    [
      'a rule that is none',
      withTarget({ rules: ['attention', 'atention'] }),
      'SAGA_INVALID at /targets/0/rules',
    ],
    ['a rule twice', withTarget({ rules: ['store', 'store'] }), 'SAGA_INVALID at /targets/0/rules'],
    ['no rules', withTarget({ rules: [] }), 'SAGA_INVALID at /targets/0/rules'],
    [
      'a name of transactions that is none',
      withTarget({ names: ['a b'] }),
      'SAGA_NAME_INVALID at /targets/0/names',
    ],
    ['tags that are a list', withTarget({ tags: ['region:eu'] }), 'SAGA_TAG_INVALID at /targets/0/tags'],
    ['a field of a target too many', withTarget({ Qm9vbQ: 1 }), 'SAGA_UNKNOWN_FIELD at /targets/0'],
  ] as const) {
    it(`S31: A file with ${what} is refused by code and place, and nothing of it is quoted`, () => {
      const read = parse(value)
      const { problem } = read as { readonly problem: string }
      expect(problem.match(/SAGA_\w+ at (?:its top|\/[\w/]*)/g)).toEqual(places)
      expect(problem).not.toMatch(/Qm9vbQ|slack\.example/)
    })
  }

  it('S31: A file that is no JSON is refused by line and column, and not quoted', () => {
    expect(parseAlerts(`{"consoleUrl": ${SECRET}}`)).toEqual({
      problem: 'names a file that is no JSON: the fault is at line 1, column 16',
    })
  })
})

describe('the rights of the file of alerts', () => {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-alerts-'))
  const path = join(folder, 'alerts.json')
  afterAll(() => rmSync(folder, { recursive: true }))

  for (const [mode, isRead] of [
    [0o600, true],
    [0o400, true],
    [0o640, true],
    [0o660, false],
    [0o644, false],
    [0o604, false],
  ] as const) {
    it(`S31: A file of mode ${mode.toString(8)} is ${isRead ? 'read' : 'refused'}`, () => {
      writeFileSync(path, JSON.stringify(FILE))
      chmodSync(path, mode)
      const read = readAlertsFile(path)
      expect('value' in read).toBe(isRead)
      if ('problem' in read) expect(read.problem).toContain('whoever has its URLs writes into your channels')
    })
  }

  it('S31: What is no file, or a file too large, is refused', () => {
    expect(readAlertsFile(folder)).toEqual({ problem: 'names what is no file' })
    writeFileSync(path, ' '.repeat(64 * 1024 + 1), { mode: 0o600 })
    chmodSync(path, 0o600)
    expect(readAlertsFile(path)).toEqual({
      problem: 'names a file over 65536 bytes, which is no file of alerts',
    })
    expect(readAlertsFile(join(folder, 'none'))).toEqual({
      problem: 'names a file that cannot be read (ENOENT)',
    })
  })
})
