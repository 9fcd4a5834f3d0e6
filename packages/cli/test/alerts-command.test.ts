import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeAlert } from '@counterstep/explain'
import type { AlertBody } from '@counterstep/protocol'
import { Guide } from '@counterstep/test-servers/guide'
import { afterAll, describe, expect, it } from 'vitest'
import { readCommand } from '../src/config.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterstep-alerts-'))
afterAll(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'alerts.json')
writeFileSync(
  path,
  JSON.stringify({
    consoleUrl: 'https://counterstep.example',
    targets: [{ name: 'ops', url: 'https://hooks.example/secret' }],
  }),
  { mode: 0o600 },
)

const refuse = (args: readonly string[], environment = {}) => {
  const command = readCommand(args, environment)
  return command.type === 'refused' ? command.problems : command.type
}

describe('the command alerts', () => {
  it('alerts test reads the file from its option or its variable', () => {
    const expected = { type: 'alerts', command: { target: { name: 'ops' }, signingKeyFile: undefined } }
    expect(readCommand(['alerts', 'test', 'ops', '--alerts-file', path], {})).toMatchObject(expected)
    expect(readCommand(['alerts', 'test', 'ops'], { COUNTERSTEP_ALERTS_FILE: path })).toMatchObject(expected)
    expect(readCommand(['alerts', '--help'], {})).toEqual({ type: 'alerts', command: 'help' })
  })

  it('alerts test is refused without a file, for an unknown target, and with what it does not know', () => {
    expect(refuse(['alerts', 'test', 'ops'])).toEqual([
      'alerts test needs --alerts-file or COUNTERSTEP_ALERTS_FILE.',
    ])
    expect(refuse(['alerts', 'test', 'opps', '--alerts-file', path])).toEqual([
      'the file of --alerts-file has no such target; there is ops.',
    ])
    for (const args of [
      ['alerts'],
      ['alerts', 'test'],
      ['alerts', 'send', 'ops'],
      ['alerts', 'test', 'ops', '--url', 'x'],
    ])
      expect(refuse([...args])).toEqual([expect.stringContaining('alerts takes the word test')])
  })
})

describe('a server with a file of alerts', () => {
  const serve = (...more: readonly string[]) => readCommand(['serve', '--alerts-file', path, ...more], {})

  it('S31: Its targets are services that do not say where branches may be called', () => {
    const command = serve()
    if (command.type !== 'serve') throw new Error(command.type)
    const { targets, alerts, warnings } = command.config
    expect(targets).toMatchObject({ others: 'loopback', services: [{ name: 'alert-ops' }] })
    expect(alerts?.targets).toHaveLength(1)
    expect(warnings.join()).toContain('alerts are not signed')
  })

  it('S31: A named service may not have the name of a target', () => {
    expect(refuse(['serve', '--alerts-file', path, '--services', 'alert-ops=https://bank.example'])).toEqual([
      '--services names alert-ops, which is the service of the target ops of --alerts-file.',
    ])
  })
})

describe('the guide of alerts', () => {
  const guide = new Guide('alerts')

  it('The file of the guide is one that a server takes', () => {
    const shown = join(folder, 'shown.json')
    writeFileSync(shown, guide.readBlock('json alerts.json'), { mode: 0o600 })
    const command = readCommand(['serve', '--alerts-file', shown], {})
    if (command.type !== 'serve') throw new Error(JSON.stringify(command))
    const { targets = [] } = command.config.alerts ?? {}
    expect(targets.map(({ name, format, rules, names }) => [name, format, rules.length, names])).toEqual([
      ['ops', 'slack', 6, undefined],
      ['pager', 'json', 2, ['transfer']],
    ])
  })

  it('The messages of the guide are those that are sent', () => {
    const shown = JSON.parse(guide.readBlock('json alert.json')) as AlertBody
    for (const format of ['json', 'slack'] as const) {
      const name = format === 'json' ? 'json alert.json' : 'json slack.json'
      const sent: unknown = JSON.parse(writeAlert(format, shown, 'https://counterstep.example'))
      expect(sent).toEqual(JSON.parse(guide.readBlock(name)))
    }
  })
})
