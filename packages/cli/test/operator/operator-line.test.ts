import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readCommand } from '../../src/config.ts'
import {
  COMMON_OPTIONS,
  describeCommand,
  OPERATOR_COMMANDS,
  type OperatorCommandName,
} from '../../src/operator/line/operator-commands.ts'
import { readOperatorLine } from '../../src/operator/line/operator-line.ts'
import { OPERATOR_OPTIONS } from '../../src/operator/line/operator-options.ts'
import { isInstantText, readOp, toInstant } from '../../src/operator/line/option-texts.ts'
import { writeOperatorUsage } from '../../src/operator/line/write-usage.ts'
import { readSignalCommand } from '../../src/signal-command.ts'

const NAMES = Object.keys(OPERATOR_COMMANDS) as OperatorCommandName[]
const read = (text: string, environment = {}) =>
  readOperatorLine(text === '' ? [] : text.split(' '), environment)
const problemsOf = (text: string, environment = {}) => {
  const line = read(text, environment)
  return 'problems' in line ? line.problems : []
}

describe('a command line of an operator', () => {
  it('A line is read with its options, of which a tag may be given twice', () => {
    const line = read(
      'tx list --status submitted,aborting --tag region:eu --tag tier:2 --attention --order -due',
    )
    expect(line).toMatchObject({
      line: {
        command: 'tx list',
        output: 'table',
        places: [],
        access: { url: 'http://127.0.0.1:8470' },
      },
    })
    if (!('line' in line)) throw new Error('refused')
    expect([...line.line.values]).toEqual([
      ['status', ['submitted,aborting']],
      ['tag', ['region:eu', 'tier:2']],
      ['order', ['-due']],
    ])
    expect([...line.line.switches]).toEqual(['attention'])
  })

  it.each(['--help', '--url=http://evil.example', '--yes', '-x', '--'])(
    'S23: The gid %s is a gid behind two dashes, and an option or a fault before them',
    (gid) => {
      const access = { url: 'http://127.0.0.1:8470' }
      expect(read(`tx retry --yes -- ${gid}`)).toMatchObject({ line: { places: [gid], access } })
      expect(read(`tx retry ${gid}`)).not.toHaveProperty('line')
      const signal = readSignalCommand(['--id', 'i', '--', gid, 'approval'], {})
      expect(signal).toMatchObject({ command: { gid, name: 'approval', ...access } })
      expect(readSignalCommand([gid, 'approval'], {})).not.toHaveProperty('command.gid')
    },
  )

  const refused: readonly (readonly [string, string])[] = [
    ['tx', 'Say what to do; see tx --help.'],
    ['tx explode', 'Say what to do; see tx --help.'],
    ['tx show', 'tx show takes GID; see tx show --help.'],
    ['tx show a b', 'tx show takes GID; see tx show --help.'],
    ['tx skip a', 'tx skip takes GID and BRANCH.OP; see tx skip --help.'],
    ['problems a', 'problems takes options only; see problems --help.'],
    ['tx stop a', 'tx stop needs --reason.'],
    ['tx stop a --reason --yes', '--reason needs a value.'],
    ['tx list --limit', '--limit needs a value.'],
    ['tx list --limit 0', '--limit must be a whole number from 1 to 100,000.'],
    ['tx list --name a --name b', '--name is given twice.'],
    ['tx list --tag region:eu --tag region:us', '--tag has region twice.'],
    [
      'tx edit a b.action --reason r --payload {} --body mine',
      '--payload stands beside neither --body nor --content-type.',
    ],
    [
      'tx list --from 1795705538',
      '--from must be an instant such as 2026-11-24T02:48Z, milliseconds from the epoch, or a span such as 90s, 15min, 24h or 7d.',
    ],
    ['tx list --attention=true', '--attention takes no value.'],
    ['tx list --reason r', '--reason is no option of tx list; see tx list --help.'],
    [
      'tx list --status gone',
      '--status must be some of prepared,submitted,aborting,succeeded,failed,stopped.',
    ],
    ['tx show a --output gids', '--output of tx show must be table, json.'],
    ['tx list -v', 'Options start with two dashes; see --help.'],
    [
      'tx list --url ftp://x',
      '--url or COUNTERSTEP_URL must be an http or https URL without a user, a query and a fragment.',
    ],
    ['tx list --key-file /none/such', 'The file of --key-file cannot be read (ENOENT).'],
  ]
  for (const [text, problem] of refused) {
    it(`A line is refused, and says what is wrong: ${text}`, () =>
      expect(problemsOf(text)).toContain(problem))
  }

  it('No problem quotes an argument, since a misplaced word may be a key', () => {
    const texts = [
      'tx s3cr3t',
      'tx show a s3cr3t',
      'tx list --s3cr3t',
      'tx list --s3cr3t=s3cr3t',
      'tx list -s3cr3t',
      'tx list --output s3cr3t',
      'tx list --status s3cr3t',
      'tx list --tag s3cr3t',
      'tx skip a b --done-by s3cr3t --reason x --answer s3cr3t',
      'tx edit a b.action --reason x --payload s3cr3t --retry s3cr3t --header s3cr3t --timeout-ms s3cr3t',
      'tx list --url http://kim:s3cr3t@bank.test',
      'tx list --url http://bank.test/?key=s3cr3t',
      'tx list --key-file s3cr3t',
    ]
    for (const text of texts) {
      expect(problemsOf(text), text).not.toEqual([])
      expect(JSON.stringify(read(text)), text).not.toContain('s3cr3t')
    }
  })

  it('The server and the key come from options before variables, and the key is in no option', () => {
    const folder = mkdtempSync(join(tmpdir(), 'operator-line-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [one, two] = ['one', 'two'].map((name) => {
      const path = join(folder, name)
      writeFileSync(path, `cs_${name}\n`)
      return path
    })
    const accessOf = (text: string, environment: object) => {
      const line = read(text, environment)
      return 'line' in line ? line.line.access : line
    }
    const variables = {
      COUNTERSTEP_URL: 'http://a',
      COUNTERSTEP_API_KEY: 'cs_given',
      COUNTERSTEP_API_KEY_FILE: two,
    }
    expect(accessOf('problems', variables)).toEqual({ url: 'http://a', apiKey: 'cs_given' })
    expect(accessOf(`problems --url http://b --key-file ${one}`, variables)).toEqual({
      url: 'http://b',
      apiKey: 'cs_one',
    })
    expect(accessOf('problems', { COUNTERSTEP_API_KEY_FILE: two })).toMatchObject({ apiKey: 'cs_two' })
    expect(problemsOf('problems', { COUNTERSTEP_API_KEY: 'cs_given cs_other' })).toEqual([
      'The API key of --key-file or COUNTERSTEP_API_KEY must be visible characters in one line.',
    ])
    expect(Object.keys(OPERATOR_OPTIONS)).not.toContain('key')
  })

  it('The program knows these commands, and serve does not take their variables for settings', () => {
    expect(readCommand(['tx', 'show', 'a'], {})).toMatchObject({ type: 'operator' })
    expect(readCommand(['tx', 'show'], {})).toMatchObject({ type: 'refused' })
    expect(readCommand(['tx', '--help'], {})).toEqual({ type: 'operator-help', words: ['tx'] })
    expect(readCommand(['tx', 'show', '--help'], {})).toEqual({
      type: 'operator-help',
      words: ['tx', 'show'],
    })
    const serve = readCommand(['serve'], { COUNTERSTEP_URL: 'http://a', COUNTERSTEP_API_KEY_FILE: '/none' })
    expect(JSON.stringify(serve)).not.toContain('is no setting')
  })
})

describe('the texts of options', () => {
  it('An instant is a date with its offset, milliseconds, or a span before or after now', () => {
    const now = Date.UTC(2026, 10, 24)
    expect(toInstant('2026-11-24T02:48Z', now, -1)).toBe(Date.UTC(2026, 10, 24, 2, 48))
    expect(toInstant('2026-11-24T02:48:01.5+02:00', now, -1)).toBe(Date.UTC(2026, 10, 24, 0, 48, 1, 500))
    expect(toInstant('2026-11-24', now, -1)).toBe(now)
    expect(toInstant('1795705538595', now, -1)).toBe(1795705538595)
    expect(toInstant('90s', now, -1)).toBe(now - 90_000)
    expect(toInstant('15min', now, 1)).toBe(now + 900_000)
    for (const text of [
      '',
      'soon',
      '2026-11-24T02:48',
      '2026-13-01',
      '1h30',
      '-1h',
      '5',
      '2026-11-24T25:00Z',
    ])
      expect(isInstantText(text), text).toBe(false)
  })

  it('An op is named behind the last point, since a branch may have points itself', () => {
    expect(readOp('debit.compensate')).toEqual({ branchId: 'debit', op: 'compensate' })
    expect(readOp('eu.debit.action')).toEqual({ branchId: 'eu.debit', op: 'action' })
    for (const text of ['debit', '.action', 'debit.undo', 'de bit.action', ''])
      expect(readOp(text)).toBeUndefined()
  })
})

describe('the usage', () => {
  for (const name of NAMES) {
    it(`The usage of ${name} names its places and each of its options`, () => {
      const usage = writeOperatorUsage(name.split(' '))
      const { places, options, help } = describeCommand(name)
      expect(usage).toContain(`counterstep ${[name, ...places].join(' ')}`)
      for (const option of [...options, ...COMMON_OPTIONS]) expect(usage).toMatch(`--${option}`)
      expect(usage).toContain(help)
      expect(usage.split('\n').filter((line) => line.length > 130)).toEqual([])
    })
  }

  it('Each option belongs to a command, and each command stands in the guide', () => {
    const used = new Set([...COMMON_OPTIONS, ...NAMES.flatMap((name) => describeCommand(name).options)])
    expect(Object.keys(OPERATOR_OPTIONS).filter((name) => !used.has(name as never))).toEqual([])
    const guide = readFileSync(new URL('../../../../docs/guides/operate.md', import.meta.url), 'utf8')
    expect(NAMES.filter((name) => !guide.includes(`counterstep ${name}`))).toEqual([])
  })
})
