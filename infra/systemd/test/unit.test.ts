import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findOnPath } from '../../test/image/tools.ts'
import { runCommand } from '../../test/run-command.ts'

const UNIT = readFileSync(join(import.meta.dirname, '..', 'counterstep.service'), 'utf8')
/** It is out of 10, and below 2 is what systemd calls well protected. */
const EXPOSURE_MAX = 2

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-unit-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Writes the unit with this machine's paths, since systemd looks whether the program is there. */
function writeUnit(folder: string, text = UNIT): string {
  const path = join(folder, 'counterstep.service')
  writeFileSync(path, text.replace('/usr/bin/node', process.execPath))
  return path
}

const analyze = findOnPath('systemd-analyze')
const reason = analyze === undefined ? ': no systemd-analyze here' : ''

describe.skipIf(analyze === undefined)(`systemd about the unit${reason}`, () => {
  it('systemd finds no fault in the unit, and finds one that is planted', async () => {
    const folder = makeFolder()
    const { code, stderr } = await runCommand('systemd-analyze', ['verify', writeUnit(folder)])
    expect([code, stderr]).toEqual([0, ''])
    const wrong = UNIT.replace('TimeoutStopSec=15', 'TimeoutStopSecond=15')
    const planted = await runCommand('systemd-analyze', ['verify', writeUnit(folder, wrong)])
    expect(planted.stderr).toContain('TimeoutStopSecond')
  })

  it('The unit takes from the server what it does not need', async () => {
    const args = ['security', '--offline=true', '--json=short', writeUnit(makeFolder())]
    const threshold = `--threshold=${EXPOSURE_MAX * 10}`
    expect(await runCommand('systemd-analyze', [...args, threshold])).toMatchObject({ code: 0 })
  })
})
