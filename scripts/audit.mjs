// `npm run audit`: asks the registry for known holes and for signatures. On demand, since it needs the network.
import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { judgeAudit } from './judge-audit.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const LIMIT_MS = 120_000

const CHECKS = [
  { name: 'known holes', args: ['audit', '--audit-level=moderate'] },
  { name: 'signatures', args: ['audit', 'signatures'] },
]

let failed = 0
for (const { name, args } of CHECKS) {
  const run = spawnSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    timeout: LIMIT_MS,
    shell: process.platform === 'win32',
  })
  const output = `${run.stdout ?? ''}${run.stderr ?? ''}`
  const verdict = judgeAudit(run.status, output)
  process.stdout.write(`${output.trimEnd()}\n${name}: ${verdict.sentence}\n`)
  if (verdict.outcome === 'failed') failed += 1
}
process.exitCode = failed === 0 ? 0 : 1
