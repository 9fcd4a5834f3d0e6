import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findMissingPython, INSTALL_TIMEOUT_MS, installCfnLint, LINT_TIMEOUT_MS, lint } from './cfn-lint.ts'
import { TEMPLATE_PATH } from './template.ts'

/** Each planted fault: its name, the text, the text that replaces it, and the rule of cfn-lint that must catch it. */
const PLANTED = [
  ['a type that is none', 'Type: AWS::Scheduler::Schedule', 'Type: AWS::Scheduler::Scheduler', 'E3006'],
  ['a property that is none', 'maxReceiveCount: 5', 'maximumReceiveCount: 5', 'E3002'],
  ['a property of a function that is none', 'RecursiveLoop: Allow', 'RecursionLoop: Allow', 'E3002'],
  [
    'an attribute that is none',
    'EventSourceArn: !GetAtt Queue.Arn',
    'EventSourceArn: !GetAtt Queue.Address',
    'E1010',
  ],
  ['a value that is none', 'TreatMissingData: ignore', 'TreatMissingData: ignored', 'E3030'],
  [
    'a reference that may come to nothing',
    '!If [HasUrl, !GetAtt Url.FunctionUrl',
    '!If [HasHttpApi, !GetAtt Url.FunctionUrl',
    'W1001',
  ],
] as const

/** Writes a copy of the template with one text replaced, and returns its path. */
function plant(folder: string, from: string, to: string): string {
  const text = readFileSync(TEMPLATE_PATH, 'utf8')
  expect(text).toContain(from)
  const path = join(folder, `${createHash('sha256').update(to).digest('hex')}.yaml`)
  writeFileSync(path, text.replace(from, to))
  return path
}

describe('cfn-lint', () => {
  const limit = { timeout: INSTALL_TIMEOUT_MS + LINT_TIMEOUT_MS }

  it('has nothing against the template, and catches what is wrong in others', limit, ({ skip }) => {
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
