import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findMissingPython, INSTALL_TIMEOUT_MS } from '../../test/python-tool.ts'
import { installCfnLint, LINT_TIMEOUT_MS, lint } from './cfn-lint.ts'
import { TEMPLATE_PATH } from './template.ts'

/** Each planted fault has its name, the text, the text that replaces it, and the rule of cfn-lint that must catch it. */
const PLANTED = [
  [
    'a type that does not exist',
    'Type: AWS::Scheduler::Schedule',
    'Type: AWS::Scheduler::Scheduler',
    'E3006',
  ],
  ['a property that does not exist', 'maxReceiveCount: 5', 'maximumReceiveCount: 5', 'E3002'],
  ['a property that a function does not have', 'RecursiveLoop: Allow', 'RecursionLoop: Allow', 'E3002'],
  [
    'an attribute that does not exist',
    'EventSourceArn: !GetAtt Queue.Arn',
    'EventSourceArn: !GetAtt Queue.Address',
    'E1010',
  ],
  ['a value that does not exist', 'TreatMissingData: ignore', 'TreatMissingData: ignored', 'E3030'],
  [
    'a reference that may come to nothing',
    '!If [HasUrl, !GetAtt Url.FunctionUrl',
    '!If [HasHttpApi, !GetAtt Url.FunctionUrl',
    'W1001',
  ],
] as const

/** Writes the template with one text replaced to a file of its own, and returns its path. */
function plant(folder: string, from: string, to: string): string {
  const text = readFileSync(TEMPLATE_PATH, 'utf8')
  expect(text).toContain(from)
  const path = join(folder, `${createHash('sha256').update(to).digest('hex')}.yaml`)
  writeFileSync(path, text.replace(from, to))
  return path
}

describe('cfn-lint', () => {
  const limit = { timeout: INSTALL_TIMEOUT_MS + LINT_TIMEOUT_MS }

  it('The tool cfn-lint finds nothing in the template, and catches the planted faults', limit, ({ skip }) => {
    const missing = findMissingPython()
    skip(missing !== undefined, missing)
    const folder = mkdtempSync(join(tmpdir(), 'counterstep-cfn-lint-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const broken = PLANTED.map(([name, from, to, rule]) => ({ name, rule, path: plant(folder, from, to) }))
    const matches = lint(installCfnLint(), [TEMPLATE_PATH, ...broken.map(({ path }) => path)])
    expect(matches.filter(({ Filename }) => Filename === TEMPLATE_PATH)).toEqual([])
    for (const { name, rule, path } of broken) {
      const rules = matches.filter(({ Filename }) => Filename === path).map(({ Rule }) => Rule.Id)
      expect(rules, name).toContain(rule)
    }
  })
})
