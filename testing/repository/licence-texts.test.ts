import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { licenceTexts } from '../../scripts/bundle-image/licence-texts.ts'

test('The licences of a bundle hold those that a package keeps in a folder', () => {
  const root = mkdtempSync(join(tmpdir(), 'licences-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const folder = join(root, 'node_modules', '@maker', 'tool')
  mkdirSync(join(folder, 'LICENSES', 'carried'), { recursive: true })
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: '@maker/tool', version: '1.2.3', license: 'MIT' }),
  )
  writeFileSync(join(folder, 'LICENSE'), 'The terms of the tool.')
  writeFileSync(join(folder, 'LICENSES', 'carried', 'LICENSE'), 'The terms of what it carries.')
  const input = { 'node_modules/@maker/tool/index.js': { bytesInOutput: 1 } }
  const output = { bytes: 1, inputs: input, imports: [], exports: [] }
  const texts = licenceTexts(root, { inputs: {}, outputs: { 'dist/main.js': output } })
  expect(texts).toBe(
    '── @maker/tool 1.2.3 (MIT) ──\n\nThe terms of the tool.\n\nThe terms of what it carries.\n\n',
  )
})
