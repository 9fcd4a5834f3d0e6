import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Harness } from '../src/harness/harness.ts'
import { readVersions } from '../src/peers/pinned-packages.ts'
import { pickSettings } from '../src/peers/start-restate.ts'
import { openPeers } from '../src/workflow/peers/open-peers.ts'
import { SMOKE, silent } from './smoke.ts'

describe('packages of peers', () => {
  let folder: string
  let harness: Harness

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bench-peers-'))
    harness = new Harness()
  })
  afterEach(async () => {
    await harness.close()
    rmSync(folder, { recursive: true })
  })

  it('A peer that npm does not get is skipped by its name, with the reason', async () => {
    const sources = join(folder, 'sources')
    const packages = makeSource(sources, 'absent')
    const context = { settings: SMOKE, harness, progress: silent }
    const open = () => Promise.reject(new Error('it is not installed'))
    const postgres = {
      version: '15',
      isInMemory: false,
      worker: { name: 'database', cpuSeconds: () => undefined },
      newDatabase: open,
    }
    const { rows, notes } = await openPeers(
      context,
      postgres,
      [{ name: 'missing', packages, note: 'it is never there', open }],
      { sources, keptIn: join(folder, 'cache'), ending: harness.ending },
    )
    expect(rows).toEqual([])
    expect(notes).toEqual([
      expect.stringMatching(/^missing is skipped: npm does not get counterstep-missing@file:missing\.tgz: ./),
    ])
  })

  it('The variants of a package for several machines are named as one', () => {
    const text = JSON.stringify({
      dependencies: { sdk: '1.2.3' },
      optionalDependencies: { 'server-linux-x64': '4.5.6', 'server-darwin-arm64': '4.5.6' },
    })
    expect(readVersions(text)).toBe('sdk@1.2.3, server@4.5.6')
  })
})

/** Makes a folder whose lockfile names a file that is not there, so that npm fails without a registry. */
function makeSource(sources: string, name: string): string {
  const source = join(sources, name)
  mkdirSync(source, { recursive: true })
  const dependencies = { 'counterstep-missing': 'file:missing.tgz' }
  writeFileSync(join(source, 'package.json'), JSON.stringify({ name, dependencies }))
  const lock = {
    name,
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name, dependencies },
      'node_modules/counterstep-missing': { version: '1.0.0', resolved: 'file:missing.tgz' },
    },
  }
  writeFileSync(join(source, 'package-lock.json'), JSON.stringify(lock))
  return name
}

it('The settings of Restate are read from its configuration by their tables', () => {
  const toml =
    'default-num-partitions = 24\n[bifrost]\ndefault-provider = "replicated"\n[log-server]\nrocksdb-disable-wal-fsync = false\n[worker]\nrocksdb-disable-wal-fsync = true\n'
  expect(pickSettings(toml)).toEqual({
    'default-num-partitions': '24',
    'bifrost.default-provider': 'replicated',
    'log-server.rocksdb-disable-wal-fsync': 'false',
  })
})
