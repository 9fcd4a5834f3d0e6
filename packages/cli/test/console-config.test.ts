import { tmpdir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { readCommand } from '../src/config.ts'
import { writeHelp } from '../src/help-text.ts'

const BEYOND = ['--host', '0.0.0.0', '--services', 'bank=http://10.0.0.5:8080'] as const
const OPEN = [...BEYOND, '--insecure-no-keys'] as const
const KEYED = [...BEYOND, '--keys-file', 'keys.json'] as const

function readServe(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const command = readCommand(['serve', ...args], environment)
  if (command.type !== 'serve') throw new Error(JSON.stringify(command))
  return command.config
}

describe('S30: where the console is', () => {
  const CASES: readonly (readonly [string, readonly string[], boolean])[] = [
    ['on loopback', [], true],
    ['on loopback, switched off', ['--console', 'off'], false],
    ['beyond loopback with keys', KEYED, true],
    ['beyond loopback with keys, switched off', [...KEYED, '--console', 'off'], false],
    ['beyond loopback without keys', OPEN, false],
    ['beyond loopback without keys, named', [...OPEN, '--console', 'on'], true],
  ]
  for (const [where, args, isOn] of CASES) {
    it(`The console is ${isOn ? 'on' : 'off'} ${where}`, () => expect(readServe(args).hasConsole).toBe(isOn))
  }

  it('A console that is open to all who reach the port is warned of, and no other', () => {
    const warns = (args: readonly string[]) =>
      readServe(args).warnings.some((each) => each.includes('--console on'))
    expect(warns([...OPEN, '--console', 'on'])).toBe(true)
    for (const args of [OPEN, KEYED, [], ['--console', 'on']]) expect(warns(args)).toBe(false)
  })

  it('The setting comes from the environment too, and has three words', () => {
    expect(readServe([], { COUNTERSTEP_CONSOLE: 'off' }).hasConsole).toBe(false)
    expect(readCommand(['serve', '--console', 'yes'], {})).toEqual({
      type: 'refused',
      problems: ['--console must be one of auto, on, off.'],
    })
  })
})

describe('counterstep dev', () => {
  function readDev(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const command = readCommand(['dev', ...args], environment)
    if (command.type !== 'dev') throw new Error(JSON.stringify(command))
    return command
  }

  it('It listens on loopback without keys, whatever the environment says, and has the console', () => {
    const environment = {
      COUNTERSTEP_HOST: '0.0.0.0',
      COUNTERSTEP_KEYS_FILE: 'keys.json',
      COUNTERSTEP_CONSOLE: 'off',
    }
    const { config } = readDev([], environment)
    expect(config).toMatchObject({
      host: '127.0.0.1',
      hasConsole: true,
      dtmPort: 'off',
      logLevel: 'warn',
      access: { keysFile: undefined, insecure: [] },
      targets: { others: 'loopback' },
    })
  })

  it('It keeps data only where a place is named', () => {
    expect(readDev([]).keepsData).toBe(false)
    expect(readDev(['--data', tmpdir()]).keepsData).toBe(true)
    expect(readDev(['--store', 'a.db']).keepsData).toBe(true)
    expect(readDev([], { COUNTERSTEP_STORE: 'a.db' }).keepsData).toBe(true)
  })

  it('It accepts every kind on the embedded store, unless it is told not to', () => {
    const accepts = (...given: Parameters<typeof readDev>) => readDev(...given).config.engine.acceptNewKinds
    expect(accepts([])).toBe(true)
    expect(accepts([], { COUNTERSTEP_ACCEPT_NEW_KINDS: 'false' })).toBe(false)
    // Nodes of another version may share such a store.
    expect(accepts(['--store', 'redis://127.0.0.1:6379'])).toBe(false)
    expect(accepts(['--store', 'redis://127.0.0.1:6379', '--accept-new-kinds'])).toBe(true)
    expect(readDev([]).config.settingsTable.rows).toContainEqual(['acceptNewKinds', 'true', 'default'])
  })

  it('It takes what is asked for by name', () => {
    const { config } = readDev(['--dtm-port', '4000', '--log-level', 'info', '--port', '0'])
    expect(config).toMatchObject({ dtmPort: 4_000, logLevel: 'info', port: 0 })
  })

  for (const flag of ['--host', '--keys-file', '--insecure-no-keys', '--console', '--rate-per-key']) {
    it(`${flag} is refused, since it would make it a server for others`, () =>
      expect(readCommand(['dev', flag, 'x'], {})).toMatchObject({
        type: 'refused',
        problems: expect.arrayContaining([`${flag} is no option of dev; see dev --help.`]),
      }))
  }

  it('Its help says what it is, and shows none of these', () => {
    const help = writeHelp('dev')
    expect(help).toContain('for one developer')
    expect(help).not.toMatch(/^ {2}--(host|keys-file|console) /m)
    expect(writeHelp('serve')).toMatch(/^ {2}--console {2,}auto, on or off/m)
  })
})
